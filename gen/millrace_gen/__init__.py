# SPDX-License-Identifier: Apache-2.0
"""The generators that turn spec/*.toml into the public header, the exported
wrappers, the look-up table and the coverage page. gen/generate.py drives them."""
