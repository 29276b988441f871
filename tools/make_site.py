#!/usr/bin/env python3
"""Makes the documentation as a site that is read and searched without a network: ./dev docs calls this.

    make_site.py FOLDER [--program build/bin/mercer]

The pages are the files of docs/ as they stand; their order is that of docs/README.md. Beside them: every
command's help, every public name of the Python package, and Doxygen's pages of the C++ headers
(tools/make_reference.py). A warning, or a link that leads nowhere, is an error.
"""

import argparse
import importlib
import inspect
import pathlib
import re
import shutil
import subprocess
import sys

import make_reference

ROOT = make_reference.ROOT
MODULES = ("mercer", "mercer.kernels", "mercer.theory", "mercer.data", "mercer.pictures", "mercer.plot",
           "mercer.distributed")
#: What pages outside docs/ link to, or are.
BESIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "examples", "repro",
          "data", "src/mercer", "tests/data/format_test.cpp")

#: Doxygen's pages to begin with.
CPP_PAGES = (("mercer_8hpp.html", "where to begin (mercer/mercer.hpp)"), ("files.html", "headers"),
             ("annotated.html", "types"), ("namespacemercer.html", "everything"))


def staged(folder):
    """A copy of the pages, laid out like the tree, so that their links mean what they mean there."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("*.py"))
    for name in BESIDE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "CMakeLists.txt"))
        elif source.exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / name)
    for page in folder.rglob("*.md"):
        page.write_text(within(page, folder))


def within(page, folder):
    """The page's text, with links to folders led to what stands for them on the site."""
    text = page.read_text()
    up = "../" * (len(page.relative_to(folder).parts) - 1)
    text = re.sub(r"\]\((?:\.\./)*examples/?\)", f"]({up}reference/examples.md)", text)
    for name in ("gallery", "course", "results", "machines"):
        text = re.sub(rf"\]\(((?:\.\./)*(?:docs/)?{name})/?\)", r"](\1/README.md)", text)
    return text


def order():
    """The sections of docs/README.md, each with its pages in the order in which they are named."""
    folder = ROOT / "docs"
    sections = re.split(r"^## ", (folder / "README.md").read_text(), flags=re.M)[1:]
    for section in sections:
        title, text = section.split("\n", 1)
        pages = []
        for target in re.findall(r"\]\(([^)#]+)", text):
            path = (folder / target).resolve()
            if path.is_dir():
                path /= "README.md"
            if path.suffix == ".md" and path.exists():
                pages.append(path.relative_to(ROOT).as_posix())
        yield title, list(dict.fromkeys(pages))


def tree_of(title, pages):
    entries = "\n".join(pages)
    return f"```{{toctree}}\n:caption: {title}\n:hidden:\n\n{entries}\n```\n\n"


def index(folder):
    listed = {page for _, pages in order() for page in pages}
    text = "# Mercer\n\n" + tree_of("To begin", ["README.md", "docs/README.md"])
    text += "".join(tree_of(title, pages) for title, pages in order())
    text += tree_of("Reference", ["reference/commands.md", "reference/examples.md", "reference/python.md",
                                  "reference/cpp.md"])
    rest = [p.relative_to(folder).as_posix() for p in sorted(folder.rglob("*.md"))]
    unlisted = [p for p in rest if p not in listed and not p.startswith(("examples/", "src/", "reference/"))]
    unlisted = [p for p in unlisted if p not in ("README.md", "docs/README.md", "index.md")]
    text += tree_of("More", unlisted) if unlisted else ""
    opening = (ROOT / "README.md").read_text().split("\n## ")[0].split("\n", 1)[1]
    opening = re.sub(r"\]\(examples/?\)", "](reference/examples.md)", opening)
    (folder / "index.md").write_text(text + opening)


def commands(folder, program):
    """Each command's own help; the names come from the program's."""
    overview = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  (\S+) {2,}\S", overview, flags=re.M)
    text = f"# Commands\n\n```text\n{overview}```\n\n"
    for name in names:
        said = subprocess.run([program, name, "--help"], capture_output=True, text=True, check=True).stdout
        text += f"## mercer {name}\n\n```text\n{said}```\n\n"
    (folder / "commands.md").write_text(text)
    return len(names)


def examples(folder):
    text = "# Examples\n\nShort programs to begin with; the tests build and run them.\n\n"
    words = {".cpp": "cpp", ".c": "c", ".py": "python"}
    for path in sorted((ROOT / "examples").iterdir()):
        if path.suffix in words:
            text += f"## {path.name}\n\n```{words[path.suffix]}\n{path.read_text()}```\n\n"
    (folder / "examples.md").write_text(text)


def python_reference(folder):
    """A page a module, a section a name; methods are those of our own classes."""
    pages = []
    for name in MODULES:
        module = importlib.import_module(name)
        names = [n for n in getattr(module, "__all__", dir(module)) if not n.startswith("_")]
        lines = [name, "=" * len(name), "", f".. automodule:: {name}", "   :no-members:", ""]
        for thing_name in names:
            thing = getattr(module, thing_name)
            own = (getattr(thing, "__module__", None) or "").split(".")[0] == "mercer"
            if inspect.ismodule(thing) or not callable(thing) or not own:
                continue
            kind = "class" if inspect.isclass(thing) else "function"
            lines += [thing_name, "-" * len(thing_name), "", f".. auto{kind}:: {name}.{thing_name}"]
            lines += ["   :no-index:" if name != "mercer" and thing_name in importlib.import_module("mercer").__dict__
                      else "", ""]
            if kind == "class":
                for member, what in make_reference.members_of(thing):
                    word = "property" if isinstance(what, property) else "method"
                    lines += [f"   .. auto{word}:: {name}.{thing_name}.{member}", "      :no-index:", ""]
        file = name.replace(".", "-") + ".rst"
        (folder / file).write_text("\n".join(lines) + "\n")
        pages.append(file)
    (folder / "python.md").write_text(
        "# Python\n\nEvery public name, module by module; [From Python](../docs/python.md) is the guide.\n\n"
        "```{toctree}\n" + "\n".join(pages) + "\n```\n")
    return len(pages)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", default=str(ROOT / "build/bin/mercer"))
    asked = parser.parse_args(arguments)
    site = asked.folder.resolve()
    pages = site.with_name(site.name + "-pages")
    staged(pages)
    (pages / "reference").mkdir()
    count = commands(pages / "reference", asked.program)
    examples(pages / "reference")
    modules = python_reference(pages / "reference")
    links = "".join(f"<li><a href='cpp/{page}'>{name}</a></li>" for page, name in CPP_PAGES)
    (pages / "reference/cpp.md").write_text(
        f"# C++\n\nDoxygen's pages of every public header:\n\n```{{raw}} html\n<ul>{links}</ul>\n```\n")
    version = re.search(r"project\(mercer VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    complaints = make_reference.cpp_pages(pages / "reference", version)
    index(pages)
    shutil.copy(ROOT / "docs/conf.py", pages)
    shutil.rmtree(site, ignore_errors=True)
    said = [f"version={version}", f"release={version}", f"html_title=Mercer {version}"]
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html",
                           *(word for one in said for word in ("-D", one)), pages, site])
    if done.returncode == 0:
        shutil.copytree(pages / "reference/cpp", site / "reference/cpp")
        written = len(list(site.rglob("*.html")))
        print(f"{site}/index.html: {written} pages; {count} commands, {modules} Python modules; search works offline")
    return 1 if complaints or done.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
