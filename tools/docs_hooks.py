"""Hooks of MkDocs: add the generated pages, fill in the generated pieces, execute the notebooks."""

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from linxtile_docs.markdown import page_name
from linxtile_docs.notebooks import execute, notebook_paths, to_markdown
from linxtile_docs.pages import fill, groups, operation_pages

_SECTION = "Operations"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the operations below their section of the navigation, chapter by chapter."""
    for entry in config.nav or []:
        if _SECTION in entry:
            entry[_SECTION] += [
                {title: [f"operations/{page_name(row.name)}.md" for row in rows]} for title, rows in groups().items()
            ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of each operation, and each notebook with its outputs as a page; the notebook itself is a download."""
    for path, content in operation_pages().items():
        files.append(File.generated(config, path, content=content))
    for notebook in notebook_paths():
        text, figures = to_markdown(execute(notebook), notebook.stem)
        files.append(File.generated(config, f"notebooks/{notebook.stem}.md", content=text))
        for name, image in figures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=image))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill in the generated pieces of a page."""
    return fill(markdown)
