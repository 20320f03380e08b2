# SPDX-License-Identifier: Apache-2.0
"""Sphinx's settings for the documentation as a site; build.py says how it is made."""
project = "Millrace"
author = "The Millrace authors"
html_title = "Millrace"

extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
# Links name headings as the Markdown pages do.
myst_heading_anchors = 6
highlight_language = "none"

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["millrace.css"]
pygments_style = "tango"
pygments_dark_style = "github-dark"
html_copy_source = False
html_use_index = False  # nothing is in it
html_show_sphinx = False
html_show_copyright = False
# The theme of Debian 12 has lost its dark colours on the way through Debian's build, so all of them stand here.
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2f5d50", "color-brand-content": "#1f6f5c"},
    "dark_css_variables": {
        "color-brand-primary": "#8fd3bf",
        "color-brand-content": "#7fd1b9",
        "color-problematic": "#ff7b72",
        "color-foreground-primary": "#d8dcda",
        "color-foreground-secondary": "#a9b1ae",
        "color-foreground-muted": "#8d9693",
        "color-foreground-border": "#5f6866",
        "color-background-primary": "#141817",
        "color-background-secondary": "#1b201f",
        "color-background-hover": "#252c2a",
        "color-background-hover--transparent": "#252c2a00",
        "color-background-border": "#313a37",
        "color-background-item": "#46504d",
        "color-highlighted-background": "#1e4d41",
        "color-highlight-on-target": "#3a3a14",
        "color-guilabel-background": "#1e4d4180",
        "color-guilabel-border": "#2d6a5a80",
        "color-admonition-background": "#1a1f1e",
        "color-card-background": "#1a1f1e",
        "color-card-marginals-background": "#252c2a",
    },
}
