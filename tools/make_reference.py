#!/usr/bin/env python3
"""Makes the reference of the public names in C++ and Python: ./dev docs calls this.

    make_reference.py FOLDER         pages into FOLDER/cpp (Doxygen), FOLDER/python, FOLDER/index.html
    make_reference.py --filter FILE  a header as Doxygen shall read it

Needs doxygen, and for the pages of Python a package that can be imported. Standard library only.
"""

import html
import importlib
import inspect
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Every public header. Undocumented names are listed too: many say all there is to say themselves.
DOXYFILE = """
PROJECT_NAME = Mercer
PROJECT_NUMBER = {version}
PROJECT_BRIEF = "Kernel machines in C++20"
OUTPUT_DIRECTORY = "{folder}"
HTML_OUTPUT = cpp
INPUT = "{root}/src/mercer"
FILE_PATTERNS = *.hpp
RECURSIVE = YES
EXCLUDE_PATTERNS = */detail/* *-inl.hpp
EXCLUDE_SYMBOLS = mercer::detail
STRIP_FROM_PATH = "{root}/src"
STRIP_FROM_INC_PATH = "{root}/src"
INPUT_FILTER = "{python} {script} --filter"
ENABLE_PREPROCESSING = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = MERCER_API=
EXTRACT_ALL = YES
JAVADOC_AUTOBRIEF = YES
MARKDOWN_SUPPORT = YES
SORT_MEMBER_DOCS = NO
SHOW_USED_FILES = NO
HAVE_DOT = NO
CLASS_GRAPH = NO
GENERATE_LATEX = NO
GENERATE_HTML = YES
GENERATE_TREEVIEW = YES
DISABLE_INDEX = NO
HTML_TIMESTAMP = NO
SEARCHENGINE = YES
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
WARN_IF_DOC_ERROR = YES
WARN_LOGFILE = "{folder}/doxygen.log"
"""

STYLE = """body { font: 16px/1.5 sans-serif; max-width: 56em; margin: 2em auto; padding: 0 1em; color: #222 }
pre { background: #f4f4f4; padding: .6em .8em; overflow-x: auto; white-space: pre-wrap }
h2 { border-top: 1px solid #ccc; padding-top: .6em } h3 { margin-bottom: .2em }
a { color: #1a4f8a } .sign { font-family: monospace }"""


def filtered(text):
    """A header whose first comment, which is ours for the whole file, is Doxygen's for the file.

    Lines that are set in are code or formulas there and become blocks of code.
    """
    lines = text.splitlines()
    head = []
    while lines and lines[0].startswith("//"):
        head.append(lines.pop(0)[2:])
    said = ["/// \\file"]
    inside = False
    for line in head:
        code = line.startswith("   ") and line.strip() != ""
        if code and not inside:
            said.append("/// @code{.cpp}")
        if inside and not code:
            said.append("/// @endcode")
        inside = code
        said.append("///" + line)
    if inside:
        said.append("/// @endcode")
    # Doxygen takes #word for a link; with us it is a number of something.
    own = [re.sub(r"#(?=\w)", r"\\#", line) if "///" in line else line for line in said + lines]
    return "\n".join(own) + "\n"


def cpp_pages(folder, version):
    """Runs Doxygen; returns how many complaints it had."""
    settings = DOXYFILE.format(
        version=version, folder=folder, root=ROOT, python=sys.executable, script=__file__
    )
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)
    log = (folder / "doxygen.log").read_text()
    print(log, end="", file=sys.stderr)
    return log.count("warning:")


def page(title, body):
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{html.escape(title)}</title>"
        f"<style>{STYLE}</style><body>{body}</body></html>\n"
    )


def signature(thing):
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return "(…)" if callable(thing) else ""
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)  # annotations that were kept as text
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def described(thing, level, name):
    """One function, class or method: its signature and what it says of itself."""
    said = inspect.getdoc(thing) or ""
    sign = signature(thing) if callable(thing) else ""
    parts = [
        f"<h{level} id='{html.escape(name)}'><span class='sign'>{html.escape(name.split('.')[-1])}"
        f"</span></h{level}>"
    ]
    if sign:
        parts.append(f"<pre>{html.escape(name + sign)}</pre>")
    if said:
        parts.append(f"<pre>{html.escape(said)}</pre>")
    return "".join(parts)


def members_of(owner):
    """Public methods and properties of a class, its own and those of our other classes."""
    for name, member in inspect.getmembers(owner):
        if name.startswith("_"):
            continue
        function = member.fget if isinstance(member, property) else member
        home = getattr(function, "__module__", None) or ""
        if home.split(".")[0] == "mercer" and (inspect.isroutine(function) or function is not member):
            yield name, member


def python_page(module):
    names = [n for n in getattr(module, "__all__", dir(module)) if not n.startswith("_")]
    body = [f"<h1>{html.escape(module.__name__)}</h1>"]
    body.append(f"<pre>{html.escape(inspect.getdoc(module) or '')}</pre>")
    things = [(n, getattr(module, n)) for n in names if not inspect.ismodule(getattr(module, n))]
    body.append("<p>" + ", ".join(f"<a href='#{n}'>{n}</a>" for n, _ in things) + "</p>")
    for name, thing in things:
        body.append(described(thing, 2, name))
        if inspect.isclass(thing):
            body += [described(m, 3, f"{name}.{n}") for n, m in members_of(thing)]
    return page(module.__name__, "".join(body)), len(things)


def python_pages(folder, modules=("mercer", "mercer.kernels", "mercer.data", "mercer.plot")):
    """One page a module; returns links to them, none where the package cannot be imported."""
    try:
        loaded = [importlib.import_module(name) for name in modules]
    except ImportError as error:
        print(f"the pages of Python stay out: {error}; ./dev test builds the package", file=sys.stderr)
        return []
    folder.mkdir(parents=True, exist_ok=True)
    links = []
    for module in loaded:
        text, count = python_page(module)
        (folder / f"{module.__name__}.html").write_text(text)
        links.append((f"python/{module.__name__}.html", f"{module.__name__}: {count} names"))
    return links


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--filter":
        sys.stdout.write(filtered(pathlib.Path(arguments[1]).read_text()))
        return 0
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(arguments[0]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    version = re.search(r"project\(mercer VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    complaints = cpp_pages(folder, version)
    links = [
        ("cpp/mercer_8hpp.html", "C++: where to begin (mercer/mercer.hpp)"),
        ("cpp/files.html", "C++: headers"),
        ("cpp/annotated.html", "C++: types"),
        ("cpp/namespacemercer.html", "C++: everything"),
    ]
    links += python_pages(folder / "python")
    rows = "".join(f"<li><a href='{to}'>{html.escape(name)}</a></li>" for to, name in links)
    (folder / "index.html").write_text(page("Mercer", f"<h1>Mercer {version}</h1><ul>{rows}</ul>"))
    pages = len(list((folder / "cpp").glob("*.html")))
    print(f"{folder}/index.html: {pages} pages of C++ in cpp/, {len(links) - 4} of Python in python/")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
