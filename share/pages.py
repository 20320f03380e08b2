# SPDX-License-Identifier: Apache-2.0
"""Man pages and completions, from what the programs print for --help.

    pages.py man PROGRAM [COMMAND] OUTPUT     a page of section 1
    pages.py bash|zsh MILLRACE OUTPUT         what completes `millrace` and its commands

docs/site/gather.py takes `markdown` from here, for the site.

The help of each program is one text of this form: lines "Usage: ..."; paragraphs; lines that begin with two blanks, an
option or a command, two blanks and what it does, which goes on in lines that are indented as far; "Example: ..." or
"Examples:" and lines.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

ITEM = re.compile(r"^  (\S.*?)(?:  +(\S.*))?$")


def ask(*words: str) -> str:
    done = subprocess.run([*words, "--help"], capture_output=True, text=True, check=False)
    if done.returncode != 0 or not done.stdout.startswith("Usage: "):
        sys.exit(f"pages.py: {words} --help gives no help: {done.stderr}")
    return done.stdout


def version(millrace: str) -> str:
    return subprocess.run([millrace, "--version"], capture_output=True, text=True, check=True).stdout.split()[1].rstrip(",")


def parts(text: str) -> list[tuple[str, object]]:
    """The help as a list: ("usage", lines), ("text", paragraph), ("items", pairs), ("example", lines)."""
    found: list[tuple[str, object]] = []
    for block in text.rstrip("\n").split("\n\n"):
        lines = block.split("\n")
        if lines[0].startswith("Usage: "):
            found.append(("usage", [line.removeprefix("Usage: ").strip() for line in lines]))
        elif lines[0].startswith("Example"):
            head = lines[0].partition(":")[2].strip()
            found.append(("example", [line for line in [head, *(line.strip() for line in lines[1:])] if line]))
        elif lines[0].startswith("  ") and not lines[0].startswith("   "):
            items: list[list[str]] = []
            rest: list[str] = []
            for line in lines:
                match = ITEM.match(line)
                if not line.startswith("  "):
                    rest.append(line)
                elif match and not line.startswith("   "):
                    items.append([match[1], match[2] or ""])
                else:
                    items[-1][1] = f"{items[-1][1]} {line.strip()}".strip()
            found.append(("items", items))
            if rest:
                found.append(("text", " ".join(rest)))
        else:
            found.append(("text", " ".join(lines)))
    return found


def escape(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return f"\\&{text}" if text.startswith(".") else text


def man(program: str, command: str | None) -> str:
    name = f"millrace-{command}" if command else pathlib.Path(program).name
    text = parts(ask(program, *([command] if command else [])))
    date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", 0)))) if "SOURCE_DATE_EPOCH" in os.environ else ""
    if command:
        purpose = dict((item.split()[0], meaning) for item, meaning in command_items(parts(ask(program))))[command].split(";")[0]
    else:
        purpose = re.split(r"(?<=[a-z])[.:;] |\.$", next(str(what) for kind, what in text if kind == "text"))[0]
    out = [f'.TH {name.upper()} 1 "{date}" "Millrace" "User Commands"', ".SH NAME", f"{escape(name)} \\- {escape(purpose[0].lower() + purpose[1:])}", ".SH SYNOPSIS"]
    for line in next(list(what) for kind, what in text if kind == "usage"):
        out += [".PP", ".nf", f"{escape(line)}", ".fi"]
    out.append(".SH DESCRIPTION")
    for kind, what in text:
        if kind == "text":
            out += [".PP", escape(str(what))]
        elif kind == "items":
            for option, meaning in what:
                out += [".TP", f"\\fB{escape(option)}\\fR", escape(meaning) or "\\&"]
        elif kind == "example":
            out += [".SH EXAMPLES"]
            for line in what:
                out += [".PP", ".nf", escape(line), ".fi"]
    if not command and name == "millrace":
        commands = [item.split()[0] for item, _ in command_items(text)]
        out += [".SH SEE ALSO", ", ".join(f"\\fBmillrace\\-{each}\\fR(1)" for each in commands)]
    elif command:
        out += [".SH SEE ALSO", "\\fBmillrace\\fR(1)"]
    return "\n".join(out) + "\n"


def plain(text: str) -> str:
    """A text of the help as Markdown: what is between backquotes stays, other characters stand for themselves."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") and len(piece) > 1 else re.sub(r"([\\*_<>\[\]|#`])", r"\\\1", piece) for piece in pieces)


def markdown(program: str, command: str | None = None) -> str:
    """The help as a page of the site."""
    name = " ".join([pathlib.Path(program).name, *([command] if command else [])])
    out = [f"# {name}", ""]
    for kind, what in parts(ask(program, *([command] if command else []))):
        if kind == "text":
            out += [plain(str(what)), ""]
        elif kind == "items":
            for option, meaning in what:
                out += [f"``{option}``" if "`" in option else f"`{option}`", *([f": {plain(meaning)}"] if meaning else []), ""]
        else:
            out += [*(["## Examples", ""] if kind == "example" else []), "```", *what, "```", ""]
    return "\n".join(out)


def command_items(text: list) -> list[tuple[str, str]]:
    return [(item, meaning) for kind, what in text if kind == "items" for item, meaning in what if re.match(r"[a-z]", item)]


def options(text: list) -> list[tuple[str, str]]:
    """Each option's spellings that begin with a dash, one by one, and what it does."""
    found = []
    for kind, what in text:
        for item, meaning in what if kind == "items" else []:
            found += [(word, meaning) for word in re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", item)]
        for word in re.findall(r"\[(--[a-z-]+)\]", " ".join(what)) if kind == "usage" else []:
            found.append((word, ""))
    return [*dict(found).items()]


def commands(millrace: str) -> list[tuple[str, str, list[tuple[str, str]], bool]]:
    """Name, meaning, options, and whether a program follows."""
    found = []
    for item, meaning in command_items(parts(ask(millrace))):
        name = item.split()[0]
        text = parts(ask(millrace, name))
        usage = " ".join(next(list(what) for kind, what in text if kind == "usage"))
        found.append((name, re.split(r"; `millrace", meaning)[0], [*options(text), ("--help", "more about it")], "PROGRAM" in usage))
    return found


def bash(millrace: str) -> str:
    all_of_them = commands(millrace)
    cases = "".join(f'        {name}) options="{" ".join(dict(words))}" ;;\n' for name, _, words, _ in all_of_them)
    takes = "|".join(name for name, _, _, program in all_of_them if program)
    return f"""# Completion of millrace for bash, made of what `millrace --help` prints.
_millrace()
{{
    local cur prev words cword options i
    _init_completion -n = || return
    if ((cword == 1)); then
        COMPREPLY=($(compgen -W "{' '.join(name for name, *_ in all_of_them)} --help --version" -- "$cur"))
        return
    fi
    case ${{words[1]}} in
{cases}        *) return ;;
    esac
    case ${{words[1]}} in
        {takes})
            for ((i = 2; i < cword; i++)); do
                case ${{words[i]}} in
                    --) _command_offset $((i + 1)); return ;;
                esac
            done ;;
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
        return
    fi
    case ${{words[1]}} in
        run) _command_offset 2 ;;
        *) _filedir ;;
    esac
}}
complete -F _millrace millrace
"""


def quoted(text: str) -> str:
    return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def zsh(millrace: str) -> str:
    all_of_them = commands(millrace)
    lines = "".join(f"        '{name}:{quoted(meaning)}'\n" for name, meaning, *_ in all_of_them)
    cases = ""
    for name, _, words, program in all_of_them:
        listed = " ".join(f"'{word}[{quoted(meaning)}]'" for word, meaning in words)
        rest = "'*:::program:_normal'" if program else "'*:file:_files'"
        cases += f"        {name}) _arguments -S {listed} {rest} ;;\n"
    return f"""#compdef millrace
# Completion of millrace for zsh, made of what `millrace --help` prints.
_millrace()
{{
    local -a commands=(
{lines}    )
    if ((CURRENT == 2)); then
        _describe 'command' commands
        return
    fi
    shift words
    ((CURRENT--))
    case ${{words[1]}} in
{cases}    esac
}}
_millrace "$@"
"""


def main() -> None:
    kind, *words, output = sys.argv[1:]
    if kind == "man":
        text = man(words[0], words[1] if len(words) > 1 else None)
    else:
        text = {"bash": bash, "zsh": zsh}[kind](words[0])
    pathlib.Path(output).write_text(text)


if __name__ == "__main__":
    main()
