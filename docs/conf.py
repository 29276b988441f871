"""Sphinx's settings; tools/make_site.py runs it on a copy of the pages."""

project = "Mercer"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_copy_source = False
html_show_sphinx = False
root_doc = "index"
exclude_patterns = ["examples/**.md", "src/**"]
myst_heading_anchors = 4
napoleon_google_docstring = False
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
# What programs print is no language, and is not coloured.
suppress_warnings = ["misc.highlighting_failure"]


def with_bars(app, what, name, thing, options, lines):
    """Bars are norms in what our functions say of themselves; to Sphinx they are references."""
    parts = "\n".join(lines).split("``")
    parts[::2] = [part.replace("|", "\\|") for part in parts[::2]]  # all but code
    lines[:] = "``".join(parts).split("\n")


def setup(app):
    app.connect("autodoc-process-docstring", with_bars)
