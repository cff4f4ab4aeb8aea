"""Word documents: paragraphs with styles, and tables, as a public server for documents words them."""

import json
import re
from functools import wraps
from posixpath import basename, dirname, splitext

from letters import DOCUMENTS

from mcp_sim.programs import Refused, initial, invalid_arguments, tool, unknown_tool
from mcp_sim.programs.helpers import indented, pydantic_refusal

# fmt: off
tables = {
    "document": {
        "key": "filename", "natural": True,
        "fields": {
            "filename": "", "title": "", "author": "python-docx", "paragraphs": [], "tables": [], "comments": [],
            "password": "",
        },
    },
}
# fmt: on

STYLES = (
    "Normal", "Title", "Subtitle", "Quote", "Intense Quote", "Caption", "Body Text", "List", "List Paragraph",
    "List Bullet", "List Bullet 2", "List Bullet 3", "List Number", "List Number 2", "List Number 3", "No Spacing",
    *(f"Heading {level}" for level in range(1, 10)),
)  # fmt: skip
HORIZONTAL, VERTICAL = ("left", "center", "right", "justify"), ("top", "center", "bottom")
NOT_FOUND = "Target paragraph not found (by index or text). (TOC paragraphs are skipped in text search)"


class Sorry(Exception):
    """What a tool says instead of its result. To the protocol it is a success."""


def worded(function):
    """Return what a function raises as `Sorry` as its text."""

    @wraps(function)
    def answer(world, **arguments):
        try:
            return function(world, **arguments)
        except Sorry as reason:
            return str(reason)

    return answer


@unknown_tool
def no_tool(_world, name, _arguments):
    raise Refused(f"Unknown tool: '{name}'")


@invalid_arguments
def refuse(world, name, arguments, problems):
    return pydantic_refusal(world, name, arguments, problems, fastmcp=True)


@initial
def begin(given, world):
    documents = (given or {}).get("documents", DOCUMENTS)
    if isinstance(documents, list):
        documents = {document["filename"]: document for document in documents}
    for filename, document in documents.items() if documents or not given else ():
        content = document if isinstance(document, dict) else {"paragraphs": document}
        paragraphs = content.get("paragraphs", [])
        paragraphs = paragraphs.splitlines() if isinstance(paragraphs, str) else paragraphs
        world.document.add(
            filename=filename,
            title=content.get("title", ""),
            author=content.get("author", "python-docx"),
            paragraphs=[line(p) if isinstance(p, str) else {"style": "Normal", **p} for p in paragraphs],
            tables=[[[str(cell) for cell in row] for row in rows] for rows in content.get("tables", [])],
            comments=content.get("comments", []),
        )


def line(text, style="Normal"):
    return {"text": text, "style": style}


def completed(filename):
    """Return a file name with its suffix."""
    return filename if filename.endswith(".docx") else f"{filename}.docx"


def document_at(world, filename):
    document = world.document.get(completed(filename))
    if document is None:
        raise Sorry(f"Document {completed(filename)} does not exist")
    return document


def paragraph_at(document, index):
    count = len(document["paragraphs"])
    if not 0 <= index < count:
        raise Sorry(f"Invalid paragraph index. Document has {count} paragraphs (0-{count - 1}).")
    return document["paragraphs"][index]


def shown(value):
    return indented(value)


# documents ------------------------------------------------------------------------------------------------------------


@tool(verb="create", entity="document", key="filename")
@worded
def create_document(world, filename, title=None, author=None):
    world.document.delete(completed(filename))
    world.document.add(filename=completed(filename), title=title or "", author=author or "python-docx")
    return f"Document {completed(filename)} created successfully"


@tool(verb="create", entity="document")
@worded
def copy_document(world, source_filename, destination_filename=None):
    source = world.document.get(completed(source_filename))
    if source is None:
        raise Sorry(f"Failed to copy document: Source document {completed(source_filename)} does not exist")
    target = completed(destination_filename or f"{splitext(source_filename)[0]}_copy")
    if target == source["filename"]:
        raise Sorry(f"Failed to copy document: Failed to copy document: '{target}' and '{target}' are the same file")
    copy = json.loads(json.dumps({name: source[name] for name in source if name != "filename"}))
    world.document.delete(target)
    world.document.add(filename=target, **copy)
    return f"Document copied to {target}"


@tool
@worded
def get_document_info(world, filename):
    document = document_at(world, filename)
    paragraphs = document["paragraphs"]
    return shown({
        "title": document["title"],
        "author": document["author"],
        "subject": "",
        "keywords": "",
        "created": "2013-12-23 23:15:00+00:00",
        "modified": "2013-12-23 23:15:00+00:00",
        "last_modified_by": "",
        "revision": 1,
        "page_count": 1,
        "word_count": sum(len(paragraph["text"].split()) for paragraph in paragraphs),
        "paragraph_count": len(paragraphs),
        "table_count": len(document["tables"]),
    })  # fmt: skip


@tool
@worded
def get_document_text(world, filename):
    document = document_at(world, filename)
    cells = [cell for rows in document["tables"] for row in rows for cell in row]
    return "\n".join([*(paragraph["text"] for paragraph in document["paragraphs"]), *cells])


@tool
@worded
def get_document_outline(world, filename):
    document = world.document.get(completed(filename))
    if document is None:
        return shown({"error": f"Document {completed(filename)} does not exist"})
    return shown({
        "paragraphs": [{"index": index, **excerpt(p)} for index, p in enumerate(document["paragraphs"])],
        "tables": [
            {
                "index": index,
                "rows": len(rows),
                "columns": max(map(len, rows), default=0),
                "preview": [[short(cell, 20) for cell in row[:3]] for row in rows[:3]],
            }
            for index, rows in enumerate(document["tables"])
        ],
    })  # fmt: skip


def excerpt(paragraph):
    return {"text": short(paragraph["text"], 100), "style": paragraph["style"]}


def short(text, most):
    return text if len(text) <= most else f"{text[:most]}..."


@tool
@worded
def list_available_documents(world, directory="."):
    folder = directory.rstrip("/")
    inside = [d for d in world.document if (dirname(d["filename"]) or ".") == folder]
    if not inside:
        return f"No Word documents found in {directory}"
    lines = [f"- {basename(document['filename'])} ({size_of(document):.2f} KB)" for document in reversed(inside)]
    return f"Found {len(inside)} Word documents in {directory}:\n" + "\n".join(lines) + "\n"


def size_of(document):
    paragraphs = len(document["paragraphs"])
    return 35.71 + 0.035 * paragraphs + 0.12 * len(document["tables"])


# paragraphs -----------------------------------------------------------------------------------------------------------


@tool
@worded
def add_paragraph(world, filename, text, style=None):
    document = document_at(world, filename)
    known = known_style(style or "Normal")
    document["paragraphs"].append(line(text, known or "Normal"))
    if known is None:
        return f"Style '{style}' not found, paragraph added with default style to {document['filename']}"
    return f"Paragraph added to {document['filename']}"


def known_style(name):
    return next((style for style in STYLES if style.lower() == name.lower()), None)


@tool
@worded
def add_heading(world, filename, text, level=1):
    if not 1 <= level <= 9:
        raise Sorry(f"Invalid heading level: {level}. Level must be between 1 and 9.")
    document = document_at(world, filename)
    document["paragraphs"].append(line(text, f"Heading {level}"))
    return f"Heading '{text}' (level {level}) added to {document['filename']}"


@tool
@worded
def add_page_break(world, filename):
    document = document_at(world, filename)
    document["paragraphs"].append(line(""))
    return f"Page break added to {document['filename']}."


@tool
@worded
def add_picture(world, filename, image_path):
    document_at(world, filename)
    return f"Image file not found: {image_path}"


@tool
@worded
def delete_paragraph(world, filename, paragraph_index):
    document = document_at(world, filename)
    paragraph_at(document, paragraph_index)
    del document["paragraphs"][paragraph_index]
    return f"Paragraph at index {paragraph_index} deleted successfully."


@tool
@worded
def get_paragraph_text_from_document(world, filename, paragraph_index):
    document = document_at(world, filename)
    if paragraph_index < 0:
        raise Sorry("Invalid parameter: paragraph_index must be a non-negative integer")
    count = len(document["paragraphs"])
    if paragraph_index >= count:
        return shown({"error": f"Invalid paragraph index: {paragraph_index}. Document has {count} paragraphs."})
    paragraph = document["paragraphs"][paragraph_index]
    is_heading = paragraph["style"].startswith("Heading")
    return shown({"index": paragraph_index, **paragraph, "is_heading": is_heading})


@tool
@worded
def find_text_in_document(world, filename, text_to_find, match_case=True, whole_word=False):
    document = document_at(world, filename)
    if not text_to_find:
        raise Sorry("Search text cannot be empty")
    places = [({"paragraph_index": at}, p["text"]) for at, p in enumerate(document["paragraphs"])]
    for number, rows in enumerate(document["tables"]):
        for row, cells in enumerate(rows):
            places += [({"location": f"Table {number}, Row {row}, Column {c}"}, text) for c, text in enumerate(cells)]
    occurrences = [
        {**place, "position": position, "context": short(text, 100)}
        for place, text in places
        for position in positions(text, text_to_find, match_case, whole_word)
    ]
    query = {"query": text_to_find, "match_case": match_case, "whole_word": whole_word}
    return shown({**query, "occurrences": occurrences, "total_count": len(occurrences)})


def positions(text, wanted, match_case, whole_word):
    if not match_case:
        text, wanted = text.lower(), wanted.lower()
    if whole_word:
        words = text.split()
        return [at for at, word in enumerate(words) if word == wanted]
    return [match.start() for match in re.finditer(re.escape(wanted), text)]


@tool
@worded
def search_and_replace(world, filename, find_text, replace_text):
    document, count = document_at(world, filename), 0
    for paragraph in document["paragraphs"]:
        if find_text in paragraph["text"]:
            paragraph["text"] = paragraph["text"].replace(find_text, replace_text)
            count += 1
    for row in (row for rows in document["tables"] for row in rows):
        for at, cell in enumerate(row):
            if find_text in cell:
                row[at] = cell.replace(find_text, replace_text)
                count += 1
    if not count:
        return f"No occurrences of '{find_text}' found."
    return f"Replaced {count} occurrence(s) of '{find_text}' with '{replace_text}'."


@tool
@worded
def format_text(world, filename, paragraph_index, start_pos, end_pos):
    text = paragraph_at(document_at(world, filename), paragraph_index)["text"]
    if start_pos < 0 or end_pos > len(text) or start_pos >= end_pos:
        raise Sorry(f"Invalid text positions. Paragraph has {len(text)} characters.")
    return f"Text '{text[start_pos:end_pos]}' formatted successfully in paragraph {paragraph_index}."


@tool(verb="none")
@worded
def create_custom_style(world, filename, style_name):
    document_at(world, filename)
    return f"Style '{style_name}' created successfully."


# near a text ----------------------------------------------------------------------------------------------------------


def target(document, text, index):
    """Return the index of the paragraph that a call names, and how the answer names it."""
    paragraphs = document["paragraphs"]
    if index is not None:
        if not 0 <= index < len(paragraphs):
            raise Sorry(f"Invalid target_paragraph_index: {index}. Document has {len(paragraphs)} paragraphs.")
        return index, f"paragraph (index {index})"
    at = next((at for at, paragraph in enumerate(paragraphs) if text and text in paragraph["text"]), None)
    if at is None:
        raise Sorry(NOT_FOUND)
    return at, "the target paragraph"


@tool(verb="update", entity="document")
@worded
def insert_header_near_text(
    world, filename, target_text=None, header_title=None, position="after", header_style="Heading 1",
    target_paragraph_index=None,
):  # fmt: skip
    document = document_at(world, filename)
    at, name = target(document, target_text, target_paragraph_index)
    if known_style(header_style) is None:
        raise Sorry(f"Failed to insert header: \"no style with name '{header_style}'\"")
    place = at if position == "before" else at + 1
    document["paragraphs"].insert(place, line(header_title or "", known_style(header_style)))
    return f"Header '{header_title}' (style: {header_style}) inserted {position} {name}."


@tool(verb="update", entity="document")
@worded
def insert_line_or_paragraph_near_text(
    world, filename, target_text=None, line_text=None, position="after", line_style=None, target_paragraph_index=None
):  # fmt: skip
    document = document_at(world, filename)
    at, name = target(document, target_text, target_paragraph_index)
    if line_style is not None and known_style(line_style) is None:
        raise Sorry(f"Failed to insert line/paragraph: \"no style with name '{line_style}'\"")
    style = known_style(line_style or "") or document["paragraphs"][at]["style"]
    document["paragraphs"].insert(at if position == "before" else at + 1, line(line_text or "", style))
    known = line_style or f"_ParagraphStyle('{style}') id: 140515860706704"
    return f"Line/paragraph inserted {position} {name} with style '{known}'."


@tool(verb="update", entity="document")
@worded
def insert_numbered_list_near_text(
    world, filename, target_text=None, list_items=(), position="after", target_paragraph_index=None,
    bullet_type="bullet",
):  # fmt: skip
    document = document_at(world, filename)
    at, name = target(document, target_text, target_paragraph_index)
    items = [line(item, "List Paragraph") for item in list_items]
    if position == "before":
        items.reverse()
    place = at if position == "before" else at + 1
    document["paragraphs"][place:place] = items
    kind = "Bulleted" if bullet_type == "bullet" else "Numbered"
    return f"{kind} list with {len(items)} items inserted {position} {name}."


@tool(verb="update", entity="document")
@worded
def replace_paragraph_block_below_header(world, filename, header_text, new_paragraphs):
    document = world.document.get(completed(filename))
    if document is None:
        raise Sorry(f"Document {completed(filename)} not found.")
    paragraphs, wanted = document["paragraphs"], header_text.strip().lower()
    at = next((at for at, p in enumerate(paragraphs) if p["text"].strip().lower() == wanted), None)
    if at is None:
        raise Sorry(f"Header '{header_text}' not found in document.")
    end = at + 1
    while end < len(paragraphs) and not paragraphs[end]["style"].startswith(("Heading", "Title")):
        end += 1
    paragraphs[at + 1 : end] = [line(text) for text in new_paragraphs]
    count, removed = len(new_paragraphs), end - at - 1
    return (
        f"Replaced content under '{header_text}' with {count} paragraph(s), style: Normal, removed {removed} elements."
    )


# tables ---------------------------------------------------------------------------------------------------------------


@tool
@worded
def add_table(world, filename, rows, cols, data=()):
    document = document_at(world, filename)
    cells = [["" for _ in range(cols)] for _ in range(rows)]
    for row, values in zip(cells, data or (), strict=False):
        row[: len(values)] = [str(value) for value in values[:cols]]
    document["tables"].append(cells)
    return f"Table ({rows}x{cols}) added to {document['filename']}"


def table_at(world, filename, index):
    document = document_at(world, filename)
    count = len(document["tables"])
    if not 0 <= index < count:
        raise Sorry(f"Invalid table index. Document has {count} tables (0-{count - 1}).")
    return document["tables"][index]


def cell_of(rows, row, column):
    if not 0 <= row < len(rows):
        raise Sorry(f"Invalid row index. Table has {len(rows)} rows (0-{len(rows) - 1}).")
    if not 0 <= column < len(rows[row]):
        raise Sorry(f"Invalid column index. Row has {len(rows[row])} cells (0-{len(rows[row]) - 1}).")
    return rows[row][column]


@tool(verb="none")
@worded
def format_table(world, filename, table_index):
    table_at(world, filename, table_index)
    return f"Table at index {table_index} formatted successfully."


@tool(verb="none")
@worded
def set_table_cell_shading(world, filename, table_index, row_index, col_index, **_colors):
    cell_of(table_at(world, filename, table_index), row_index, col_index)
    return f"Cell shading applied successfully to table {table_index}, row {row_index}, column {col_index}."


@tool(verb="none")
@worded
def apply_table_alternating_rows(world, filename, table_index):
    table_at(world, filename, table_index)
    return f"Alternating row shading applied successfully to table {table_index}."


@tool(verb="none")
@worded
def highlight_table_header(world, filename, table_index):
    table_at(world, filename, table_index)
    return f"Header highlighting applied successfully to table {table_index}."


def merge(rows, top, left, bottom, right):
    """Merge cells: each shows the texts of all. Return whether there are such cells."""
    if not (0 <= top <= bottom < len(rows) and 0 <= left <= right < len(rows[0])):
        return False
    cells = [rows[row][column] for row in range(top, bottom + 1) for column in range(left, right + 1)]
    text = "\n".join(cell for cell in cells if cell)
    for row in range(top, bottom + 1):
        rows[row][left : right + 1] = [text] * (right - left + 1)
    return True


@tool
@worded
def merge_table_cells(world, filename, table_index, start_row, start_col, end_row, end_col):
    rows = table_at(world, filename, table_index)
    if start_row > end_row or start_col > end_col:
        raise Sorry("Invalid merge range: start indices must be <= end indices")
    cell_of(rows, start_row, start_col)
    cell_of(rows, end_row, end_col)
    merge(rows, start_row, start_col, end_row, end_col)
    place = f"from ({start_row},{start_col}) to ({end_row},{end_col})"
    return f"Cells merged successfully in table {table_index} {place}."


@tool
@worded
def merge_table_cells_horizontal(world, filename, table_index, row_index, start_col, end_col):
    rows = table_at(world, filename, table_index)
    if not merge(rows, row_index, start_col, row_index, end_col):
        raise Sorry("Failed to merge cells horizontally. Check that indices are valid.")
    return f"Cells merged horizontally in table {table_index}, row {row_index}, columns {start_col}-{end_col}."


@tool
@worded
def merge_table_cells_vertical(world, filename, table_index, col_index, start_row, end_row):
    rows = table_at(world, filename, table_index)
    if not merge(rows, start_row, col_index, end_row, col_index):
        raise Sorry("Failed to merge cells vertically. Check that indices are valid.")
    return f"Cells merged vertically in table {table_index}, column {col_index}, rows {start_row}-{end_row}."


@tool(verb="none")
@worded
def set_table_cell_alignment(
    world, filename, table_index, row_index, col_index, horizontal="left", vertical="top"
):  # fmt: skip
    check_alignment(horizontal, vertical)
    cell_of(table_at(world, filename, table_index), row_index, col_index)
    place = f"table {table_index}, cell ({row_index},{col_index})"
    return f"Cell alignment set successfully for {place} to {horizontal}/{vertical}."


@tool(verb="none")
@worded
def set_table_alignment_all(world, filename, table_index, horizontal="left", vertical="top"):
    check_alignment(horizontal, vertical)
    table_at(world, filename, table_index)
    return f"Table alignment set successfully for table {table_index} to {horizontal}/{vertical} for all cells."


def check_alignment(horizontal, vertical):
    if horizontal not in HORIZONTAL:
        raise Sorry(f"Invalid horizontal alignment. Valid options: {', '.join(HORIZONTAL)}")
    if vertical not in VERTICAL:
        raise Sorry(f"Invalid vertical alignment. Valid options: {', '.join(VERTICAL)}")


@tool
@worded
def format_table_cell_text(
    world, filename, table_index, row_index, col_index, text_content=None, bold=None, italic=None, underline=None,
    color=None, font_size=None, font_name=None,
):  # fmt: skip
    rows = table_at(world, filename, table_index)
    old = cell_of(rows, row_index, col_index)
    if text_content is not None:
        # Cells that were merged show the same text.
        rows[row_index] = [text_content if cell == old and old and "\n" in old else cell for cell in rows[row_index]]
        rows[row_index][col_index] = text_content
    given = {"bold": bold, "italic": italic, "underline": underline, "color": color, "size": font_size}
    changes = [f"content='{short(text_content, 30)}'"] if text_content is not None else []
    changes += [f"{name}={value}" for name, value in given.items() if value is not None]
    changes += [f"font={font_name}"] if font_name is not None else []
    place = f"table {table_index}, cell ({row_index},{col_index})"
    return f"Cell text formatted successfully in {place}: {', '.join(changes)}."


@tool(verb="none")
@worded
def set_table_column_width(world, filename, table_index, col_index, width, width_type="points"):
    rows = table_at(world, filename, table_index)
    if not rows or not 0 <= col_index < len(rows[0]):
        count = len(rows[0]) if rows else 0
        raise Sorry(f"Invalid column index. Table has {count} columns (0-{count - 1}).")
    place = f"table {table_index}, column {col_index}"
    return f"Column width set successfully for {place} to {float(width)} {width_type}."


@tool(verb="none")
@worded
def set_table_column_widths(world, filename, table_index, widths, width_type="points"):
    table_at(world, filename, table_index)
    return f"Column widths set successfully for table {table_index} with {len(widths)} columns in {width_type}."


@tool(verb="none")
@worded
def set_table_width(world, filename, table_index, width, width_type="points"):
    table_at(world, filename, table_index)
    return f"Table width set successfully for table {table_index} to {float(width)} {width_type}."


@tool(verb="none")
@worded
def auto_fit_table_columns(world, filename, table_index):
    table_at(world, filename, table_index)
    return f"Table {table_index} set to auto-fit columns based on content."


# notes, comments, protection ------------------------------------------------------------------------------------------


@tool(verb="update", entity="document")
@worded
def add_footnote_to_document(world, filename, paragraph_index, footnote_text):
    document = document_at(world, filename)
    noted(document, paragraph_index, footnote_text, "Footnotes:", "¹")
    return f"Footnote added to paragraph {paragraph_index} in {document['filename']} (simplified approach)"


@tool(verb="update", entity="document")
@worded
def add_endnote_to_document(world, filename, paragraph_index, endnote_text):
    document = document_at(world, filename)
    noted(document, paragraph_index, endnote_text, "Endnotes:", "†")
    return f"Endnote added to paragraph {paragraph_index} in {document['filename']}"


def noted(document, index, text, title, mark):
    """Mark a paragraph, and add the note at the end of the document."""
    paragraph = paragraph_at(document, index)
    paragraph["text"] += mark
    if all(other["text"] != title for other in document["paragraphs"]):
        document["paragraphs"] += [line(""), line(title, "Heading 1")]
    document["paragraphs"].append(line(f"{mark} {text}"))


@tool
@worded
def get_all_comments(world, filename):
    return comments(world, filename, {}, lambda _: True)


@tool
@worded
def get_comments_by_author(world, filename, author):
    return comments(world, filename, {"author": author}, lambda comment: comment.get("author") == author)


@tool
@worded
def get_comments_for_paragraph(world, filename, paragraph_index):
    document = world.document.get(completed(filename))
    paragraphs = [] if document is None else document["paragraphs"]
    text = paragraphs[paragraph_index]["text"] if 0 <= paragraph_index < len(paragraphs) else ""
    about = {"paragraph_index": paragraph_index, "paragraph_text": text}
    return comments(world, filename, about, lambda comment: comment.get("paragraph_index") == paragraph_index)


def comments(world, filename, about, fits):
    document = world.document.get(completed(filename))
    if document is None:
        return shown({"success": False, "error": f"Document {completed(filename)} does not exist"})
    chosen = [comment for comment in document["comments"] if fits(comment)]
    return shown({"success": True, **about, "comments": chosen, "total_comments": len(chosen)})


@tool(verb="update", entity="document")
@worded
def protect_document(world, filename, password):
    document = document_at(world, filename)
    document["password"] = password
    return f"Document {document['filename']} encrypted successfully with password."


@tool(verb="update", entity="document")
@worded
def unprotect_document(world, filename, password):
    document = document_at(world, filename)
    if document["password"] != password:
        raise Sorry(f"Failed to decrypt document {document['filename']}: Incorrect password.")
    document["password"] = ""
    return f"Document {document['filename']} decrypted successfully."
