"""PowerPoint presentations: slides with placeholders, texts, tables and shapes, as a public server words them."""

import json
from functools import wraps
from posixpath import dirname

from decks import DECKS, LAYOUTS

from mcp_sim.programs import Refused, initial, invalid_arguments, tool, unknown_tool
from mcp_sim.programs.helpers import pydantic_refusal, shown

# fmt: off
tables = {
    "presentation": {
        "natural": True, "fields": {"id": "", "properties": {}, "slides": []},
    },
    "file": {
        "key": "file_path", "natural": True, "fields": {"file_path": "", "properties": {}, "slides": []},
    },
    "session": {"singleton": True, "fields": {"current": None}},
}
# fmt: on

PROPERTIES = {
    "title": "", "subject": "", "author": "", "keywords": "", "comments": "generated using python-pptx",
    "created": "2013-01-27T09:14:16", "last_modified_by": "Steve Canny", "modified": "2013-01-27T09:15:58",
}  # fmt: skip
SHAPES = {
    "arrow": "Right Arrow", "cloud": "Cloud", "diamond": "Diamond", "flowchart_data": "Flowchart: Data",
    "flowchart_decision": "Flowchart: Decision", "flowchart_document": "Flowchart: Document",
    "flowchart_process": "Flowchart: Process", "heart": "Heart", "heptagon": "Heptagon", "hexagon": "Hexagon",
    "lightning_bolt": "Lightning Bolt", "moon": "Moon", "no_symbol": '"No" Symbol', "octagon": "Octagon",
    "oval": "Oval", "pentagon": "Regular Pentagon", "rectangle": "Rectangle", "right_triangle": "Right Triangle",
    "rounded_rectangle": "Rounded Rectangle", "smiley_face": "Smiley Face", "star": "5-Point Star", "sun": "Sun",
    "triangle": "Isosceles Triangle",
}  # fmt: skip
CHARTS = (
    "column", "stacked_column", "bar", "stacked_bar", "line", "line_markers", "pie", "doughnut", "area", "stacked_area",
    "scatter", "radar", "radar_markers",
)  # fmt: skip
OPERATIONS = ("add", "format", "validate", "format_runs")
EMU = 914_400
"""The units of an inch."""


class Sorry(Exception):
    """What a tool reports as an error. To the protocol it is a success."""


def worded(function):
    """Return the answer of a function, and what it raises as `Sorry`, as the server words them."""

    @wraps(function)
    def answer(world, **arguments):
        try:
            body = function(world, **arguments)
        except Sorry as reason:
            body = {"error": str(reason)}
        return shown(body, {"result": body})

    return answer


@unknown_tool
def no_tool(_world, name, _arguments):
    raise Refused(f"Unknown tool: {name}")


@invalid_arguments
def refuse(world, name, arguments, problems):
    return pydantic_refusal(world, name, arguments, problems)


@initial
def begin(given, world):
    for deck in (given or {}).get("presentations", () if given else DECKS):
        world.file.add(
            file_path=deck["file_path"],
            properties={**PROPERTIES, **deck.get("properties", {})},
            slides=[given_slide(slide) for slide in deck.get("slides", ())],
        )


def given_slide(slide):
    """Return a slide of a layout, given by number or name, with its title, texts of placeholders and a table."""
    names = [name for name, *_ in LAYOUTS]
    layout = slide.get("layout", 1)
    made = new_slide(layout if isinstance(layout, int) else names.index(layout), slide.get("title"))
    for idx, text in slide.get("texts", {}).items():
        placeholder(made, int(idx), "populate placeholder")["text"] = text
    if "table" in slide:
        add(made, "Table", "TABLE (19)", (1, 2, 6, 3), rows=slide["table"])
    return made


# what calls refer to --------------------------------------------------------------------------------------------------


def current(world, presentation_id):
    name = presentation_id or world.session["current"]
    presentation = world.presentation.get(name) if name else None
    if presentation is None:
        raise Sorry("No presentation is currently loaded or the specified ID is invalid")
    return presentation


def slide_of(world, presentation_id, index):
    slides = current(world, presentation_id)["slides"]
    if not 0 <= index < len(slides):
        raise Sorry(f"Invalid slide index: {index}. Available slides: 0-{len(slides) - 1}")
    return slides[index]


def placeholder(slide, idx, action):
    shape = next((shape for shape in slide["shapes"] if shape.get("idx") == idx), None)
    if shape is None:
        raise Sorry(f"Failed to {action}: 'no placeholder on this slide with idx == {idx}'")
    return shape


def new_slide(layout, title):
    shapes = [
        {"name": name, "shape_type": "PLACEHOLDER (14)", "idx": idx, "type": kind, "text": "",
         "left": left, "top": top, "width": width, "height": height}
        for idx, kind, name, left, top, width, height in LAYOUTS[layout][2]
    ]  # fmt: skip
    if shapes and title:
        shapes[0]["text"] = title
    return {"layout": layout, "shapes": shapes}


def add(slide, name, shape_type, place, **content):
    """Add a shape to a slide, its place in inches. Return its index."""
    left, top, width, height = (int(inches * EMU) for inches in place)
    number = len(slide["shapes"]) + 1
    shape = {"name": f"{name} {number}", "shape_type": shape_type, "text": "", **content}
    slide["shapes"].append({**shape, "left": left, "top": top, "width": width, "height": height})
    return number - 1


def copied(value):
    return json.loads(json.dumps(value))


# presentations --------------------------------------------------------------------------------------------------------


def opened(world, name, properties, slides):
    """Put a presentation into memory, and return its id."""
    name = name or f"presentation_{len(world.presentation) + 1}"
    world.presentation.delete(name)
    world.presentation.add(id=name, properties=copied(properties), slides=copied(slides))
    return name


@tool(verb="create", entity="presentation", key="id")
@worded
def create_presentation(world, id=None):
    name = opened(world, id, PROPERTIES, [])
    return {"presentation_id": name, "message": f"Created new presentation with ID: {name}", "slide_count": 0}


@tool(verb="create", entity="presentation", key="id")
@worded
def open_presentation(world, file_path, id=None):
    file = world.file.get(file_path)
    if file is None:
        raise Sorry(f"File not found: {file_path}")
    name = opened(world, id, file["properties"], file["slides"])
    message = f"Opened presentation from {file_path} with ID: {name}"
    return {"presentation_id": name, "message": message, "slide_count": len(file["slides"])}


@tool(verb="create", entity="presentation", key="id")
@worded
def create_presentation_from_template(world, template_path, id=None):
    file = template(world, template_path)
    name = opened(world, id, file["properties"], file["slides"])
    return {
        "presentation_id": name,
        "message": f"Created new presentation from template '{template_path}' with ID: {name}",
        "template_path": template_path,
        "slide_count": len(file["slides"]),
        "layout_count": len(LAYOUTS),
    }


def template(world, path):
    file = world.file.get(path)
    if file is None:
        raise Sorry(f"Template file not found: {path}. Searched in ., ./templates, ./assets, ./resources")
    return file


@tool(verb="update", entity="file", key="file_path")
@worded
def save_presentation(world, file_path, presentation_id=None):
    presentation = current(world, presentation_id)
    folders = {dirname(file["file_path"]) for file in world.file}
    inside = any(folder and dirname(file_path).startswith(f"{folder}/") for folder in folders)
    if dirname(file_path) not in folders and inside:
        raise Sorry(f"Failed to save presentation: [Errno 2] No such file or directory: '{file_path}'")
    world.file.delete(file_path)
    properties, slides = copied(presentation["properties"]), copied(presentation["slides"])
    world.file.add(file_path=file_path, properties=properties, slides=slides)
    return {"message": f"Presentation saved to {file_path}", "file_path": file_path}


@tool
@worded
def get_presentation_info(world, presentation_id=None):
    presentation = current(world, presentation_id)
    return {
        "slide_count": len(presentation["slides"]),
        "layout_count": len(LAYOUTS),
        "slide_layouts": layouts(),
        "core_properties": {**presentation["properties"]},
        "slide_width": 9_144_000,
        "slide_height": 6_858_000,
        "presentation_id": presentation["id"],
    }


def layouts():
    return [{"index": at, "name": name, "placeholder_count": count} for at, (name, count, _) in enumerate(LAYOUTS)]


@tool
@worded
def get_template_file_info(world, template_path):
    file = template(world, template_path)
    return {
        "template_path": template_path,
        "file_size_bytes": 28_000 + 2_100 * len(file["slides"]),
        "slide_count": len(file["slides"]),
        "layout_count": len(LAYOUTS),
        "slide_layouts": layouts(),
        "core_properties": {**file["properties"]},
    }


@tool(verb="update", entity="presentation")
@worded
def set_core_properties(
    world, title=None, subject=None, author=None, keywords=None, comments=None, presentation_id=None
):  # fmt: skip
    presentation = current(world, presentation_id)
    given = {"title": title, "subject": subject, "author": author, "keywords": keywords, "comments": comments}
    presentation["properties"].update({name: value for name, value in given.items() if value is not None})
    return {"message": "Core properties updated successfully"}


@tool
@worded
def list_presentations(world):
    now = world.session["current"]
    return {
        "presentations": [
            {"id": row["id"], "slide_count": len(row["slides"]), "is_current": row["id"] == now}
            for row in world.presentation
        ],
        "current_presentation_id": now,
        "total_presentations": len(world.presentation),
    }


@tool(verb="update", entity="session")
@worded
def switch_presentation(world, presentation_id):
    if presentation_id not in world.presentation:
        known = [row["id"] for row in world.presentation]
        raise Sorry(f"Presentation '{presentation_id}' not found. Available presentations: {known}")
    before = world.session["current"]
    world.session["current"] = presentation_id
    return {
        "message": f"Switched from presentation '{before}' to '{presentation_id}'",
        "previous_presentation_id": before,
        "current_presentation_id": presentation_id,
    }


# slides ---------------------------------------------------------------------------------------------------------------


@tool(verb="update", entity="presentation")
@worded
def add_slide(world, layout_index=1, title=None, presentation_id=None):
    slides = current(world, presentation_id)["slides"]
    if not 0 <= layout_index < len(LAYOUTS):
        raise Sorry(f"Invalid layout index: {layout_index}. Available layouts: 0-{len(LAYOUTS) - 1}")
    slides.append(new_slide(layout_index, title))
    index = len(slides) - 1
    message = f"Added slide {index} with layout {layout_index}"
    return {"message": message, "slide_index": index, "layout_name": LAYOUTS[layout_index][0]}


@tool
@worded
def get_slide_info(world, slide_index, presentation_id=None):
    slide = slide_of(world, presentation_id, slide_index)
    held = [shape for shape in slide["shapes"] if "idx" in shape]
    shown = ("name", "shape_type", "left", "top", "width", "height")
    return {
        "slide_index": slide_index,
        "layout_name": LAYOUTS[slide["layout"]][0],
        "placeholder_count": len(held),
        "placeholders": [{"idx": shape["idx"], "type": shape["type"], "name": shape["name"]} for shape in held],
        "shape_count": len(slide["shapes"]),
        "shapes": [
            {"index": index, **{name: shape[name] for name in shown}} for index, shape in enumerate(slide["shapes"])
        ],
    }


def texts_of(slide):
    """Return what is said about the texts of a slide."""
    shapes = [*enumerate(slide["shapes"])]
    title = shapes[0][1]["text"] if shapes and shapes[0][1].get("idx") == 0 else ""
    held = [
        {
            "shape_index": index,
            "shape_name": shape["name"],
            "shape_type": shape["shape_type"],
            "text": shape["text"],
            "placeholder_type": shape["type"],
            "placeholder_idx": shape["idx"],
        }
        for index, shape in shapes
        if "idx" in shape and shape["text"]
    ]
    grids = [
        {
            "shape_index": index,
            "shape_name": shape["name"],
            "table_content": [{"row": row, "cells": [*cells]} for row, cells in enumerate(shape["rows"])],
        }
        for index, shape in shapes
        if "rows" in shape
    ]
    lines = [title, *(text for _, shape in shapes for text in [*cells_of(shape), shape["text"]])]
    content = {
        "slide_title": title,
        "placeholders": held,
        "text_shapes": [],
        "table_text": grids,
        "all_text_combined": "\n".join(line for line in lines if line),
    }
    return {
        "text_content": content,
        "total_text_shapes": len(held),
        "has_title": bool(title),
        "has_tables": bool(grids),
    }


def cells_of(shape):
    return [cell for cells in shape.get("rows", ()) for cell in cells]


@tool
@worded
def extract_slide_text(world, slide_index, presentation_id=None):
    return {
        "success": True,
        **texts_of(slide_of(world, presentation_id, slide_index)),
        "slide_index": slide_index,
    }


@tool
@worded
def extract_presentation_text(world, presentation_id=None, include_slide_info=True):
    presentation = current(world, presentation_id)
    slides = [texts_of(slide) for slide in presentation["slides"]]
    combined = [slide["text_content"]["all_text_combined"] for slide in slides]
    return {
        "success": True,
        "presentation_id": presentation["id"],
        "total_slides": len(slides),
        "slides_with_text": sum(map(bool, combined)),
        "total_text_shapes": sum(slide["total_text_shapes"] for slide in slides),
        "slides_with_titles": sum(slide["has_title"] for slide in slides),
        "slides_with_tables": sum(slide["has_tables"] for slide in slides),
        "slides_text": [
            about(index, slide, presentation["slides"][index]["layout"], include_slide_info)
            for index, slide in enumerate(slides)
        ],
        "all_presentation_text_combined": "\n".join(
            f"=== SLIDE {number} ===\n{text}\n" for number, text in enumerate(combined, 1) if text
        ),
    }


def about(index, slide, layout, is_whole):
    begin = {"slide_index": index, "text_content": slide["text_content"]}
    if not is_whole:
        return begin
    rest = {name: slide[name] for name in ("total_text_shapes", "has_title", "has_tables")}
    return {**begin, "layout_name": LAYOUTS[layout][0], **rest}


@tool(verb="update", entity="presentation")
@worded
def populate_placeholder(world, slide_index, placeholder_idx, text, presentation_id=None):
    slide = slide_of(world, presentation_id, slide_index)
    placeholder(slide, placeholder_idx, "populate placeholder")["text"] = text
    return {"message": f"Populated placeholder {placeholder_idx} on slide {slide_index}"}


@tool(verb="update", entity="presentation")
@worded
def add_bullet_points(world, slide_index, placeholder_idx, bullet_points, presentation_id=None):
    slide = slide_of(world, presentation_id, slide_index)
    placeholder(slide, placeholder_idx, "add bullet points")["text"] = "\n".join(map(str, bullet_points))
    place = f"placeholder {placeholder_idx} on slide {slide_index}"
    return {"message": f"Added {len(bullet_points)} bullet points to {place}"}


@tool(verb="update", entity="presentation")
@worded
def manage_text(
    world, slide_index, operation, left=1.0, top=1.0, width=4.0, height=2.0, text="", shape_index=None,
    presentation_id=None,
):  # fmt: skip
    slide = slide_of(world, presentation_id, slide_index)
    if operation not in OPERATIONS:
        raise Sorry(f"Invalid operation: {operation}. Must be 'add', 'format', 'validate', or 'format_runs'")
    if operation == "add":
        index = add(slide, "TextBox", "TEXT_BOX (17)", (left, top, width, height), text=text)
        return {"message": f"Added text box to slide {slide_index}", "shape_index": index, "text": text}
    purpose = {"format": "formatting", "validate": "validation", "format_runs": "run formatting"}[operation]
    if shape_index is None or not 0 <= shape_index < len(slide["shapes"]):
        last = len(slide["shapes"]) - 1
        raise Sorry(f"Invalid shape index for {purpose}: {shape_index}. Available shapes: 0-{last}")
    if operation == "validate":
        return {
            "fits": True,
            "estimated_overflow": False,
            "suggested_font_size": 12,
            "suggested_dimensions": None,
            "warnings": [],
            "needs_optimization": False,
        }
    return {"message": f"Formatted text shape {shape_index} on slide {slide_index}"}


# tables, shapes, charts -----------------------------------------------------------------------------------------------


@tool(verb="update", entity="presentation")
@worded
def add_table(world, slide_index, rows, cols, left, top, width, height, data=None, presentation_id=None):
    slide = slide_of(world, presentation_id, slide_index)
    for name, number in (("rows", rows), ("cols", cols)):
        if number < 1:
            raise Sorry(f"Parameter '{name}': must be a positive integer")
    if data and len(data) > rows:
        raise Sorry(f"Data has {len(data)} rows but table should have {rows} rows")
    for at, line in enumerate(data or ()):
        if len(line) > cols:
            raise Sorry(f"Row {at} has {len(line)} columns but table should have {cols} columns")
    cells = [[str(cell) for cell in line] + [""] * (cols - len(line)) for line in data or ()]
    cells += [[""] * cols for _ in range(rows - len(cells))]
    index = add(slide, "Table", "TABLE (19)", (left, top, width, height), rows=cells)
    message = f"Added {rows}x{cols} table to slide {slide_index}"
    return {"message": message, "shape_index": index, "rows": rows, "cols": cols}


@tool(verb="none")
@worded
def format_table_cell(world, slide_index, shape_index, row, col, presentation_id=None):
    shapes = slide_of(world, presentation_id, slide_index)["shapes"]
    if not 0 <= shape_index < len(shapes):
        raise Sorry(f"Invalid shape index: {shape_index}. Available shapes: 0-{len(shapes) - 1}")
    rows = shapes[shape_index].get("rows")
    if rows is None:
        raise Sorry(f"Shape at index {shape_index} is not a table")
    if not 0 <= row < len(rows):
        raise Sorry(f"Invalid row index: {row}. Available rows: 0-{len(rows) - 1}")
    if not 0 <= col < len(rows[0]):
        raise Sorry(f"Invalid column index: {col}. Available columns: 0-{len(rows[0]) - 1}")
    place = f"row {row}, column {col} in table at shape index {shape_index} on slide {slide_index}"
    return {"message": f"Formatted cell at {place}"}


@tool(verb="update", entity="presentation")
@worded
def add_shape(world, slide_index, shape_type, left, top, width, height, text=None, presentation_id=None):
    slide = slide_of(world, presentation_id, slide_index)
    if shape_type.lower() not in SHAPES:
        known = ", ".join(SHAPES)
        raise Sorry(f"Unsupported shape type: '{shape_type.lower()}'. Available shape types: {known}")
    place = (left, top, width, height)
    index = add(slide, SHAPES[shape_type.lower()], "AUTO_SHAPE (1)", place, text=text or "")
    return {"message": f"Added {shape_type} shape to slide {slide_index}", "shape_index": index}


@tool(verb="update", entity="presentation")
@worded
def add_chart(
    world, slide_index, chart_type, left, top, width, height, categories, series_names, series_values,
    presentation_id=None,
):  # fmt: skip
    slide = slide_of(world, presentation_id, slide_index)
    if chart_type.lower() not in CHARTS:
        raise Sorry(f"Invalid chart type: '{chart_type}'. Valid types are: {', '.join(CHARTS)}")
    if len(series_names) != len(series_values):
        counts = f"({len(series_names)}) must match number of series values ({len(series_values)})"
        raise Sorry(f"Number of series names {counts}")
    for name, values in zip(series_names, series_values, strict=True):
        if len(values) != len(categories):
            raise Sorry(f"Series '{name}' has {len(values)} values but there are {len(categories)} categories")
    chart = {
        "type": chart_type,
        "categories": categories,
        "series": dict(zip(series_names, series_values, strict=True)),
    }
    index = add(slide, "Chart", "CHART (3)", (left, top, width, height), chart=chart)
    return {
        "message": f"Added {chart_type} chart to slide {slide_index}",
        "shape_index": index,
        "chart_type": chart_type,
        "series_count": len(series_names),
        "categories_count": len(categories),
    }


# links, lines, masters, transitions -----------------------------------------------------------------------------------


def slide_at(world, presentation_id, index):
    """Return a slide for the tools that word a wrong index in another way."""
    slides = current(world, presentation_id)["slides"]
    if not 0 <= index < len(slides):
        raise Sorry(f"Slide index {index} out of range")
    return slides[index]


@tool(verb="update", entity="presentation")
@worded
def manage_hyperlinks(world, operation, slide_index, shape_index=None, text=None, url=None, presentation_id=None):
    shapes = slide_at(world, presentation_id, slide_index)["shapes"]
    if operation == "list":
        links = [
            {"shape_index": at, "paragraph_index": 0, "run_index": 0, **shape["link"]}
            for at, shape in enumerate(shapes)
            if "link" in shape
        ]
        return {"message": f"Found {len(links)} hyperlinks on slide {slide_index}", "hyperlinks": links}
    if operation not in ("add", "update", "remove"):
        raise Sorry(f"Unsupported operation: {operation}. Use 'add', 'remove', 'list', or 'update'")
    if shape_index is None or not 0 <= shape_index < len(shapes):
        raise Sorry(f"Shape index {shape_index} out of range")
    shape = shapes[shape_index]
    if operation == "remove":
        shape.pop("link", None)
        return {"message": f"Removed hyperlink from shape {shape_index}"}
    if not text or not url:
        raise Sorry("Both 'text' and 'url' are required for adding hyperlinks")
    shape["link"] = {"text": text, "url": url}
    shape["text"] = shape["text"] or text
    return {"message": f"Added hyperlink '{text}' -> '{url}' to shape {shape_index}", "text": text, "url": url}


@tool(verb="none")
@worded
def add_connector(world, slide_index, presentation_id=None, **_line):
    slide_at(world, presentation_id, slide_index)
    raise Sorry("Failed to add connector: CURVED")  # as the server says of every line, whatever its type and ends


@tool(reads=True)
@worded
def manage_slide_masters(world, operation, presentation_id=None):
    current(world, presentation_id)
    if operation != "list":
        raise Sorry(f"Unsupported operation: {operation}. Use 'list', 'get_layouts', or 'get_info'")
    masters = [{"index": 0, "layout_count": len(LAYOUTS), "name": ""}]
    return {"message": "Found 1 slide masters", "masters": masters, "total_masters": 1}


@tool(verb="none")
@worded
def manage_slide_transitions(world, slide_index, operation, transition_type=None, duration=1.0, presentation_id=None):
    slide_at(world, presentation_id, slide_index)
    place = {"slide_index": slide_index}
    if operation == "get":
        note = "Transition reading has limited support in python-pptx"
        return {"message": f"Transition info for slide {slide_index}", **place, "note": note}
    if operation == "set":
        note = "Transition setting has limited support in python-pptx - this is a placeholder for future enhancement"
        change = {"transition_type": transition_type, "duration": duration}
        return {"message": f"Transition setting requested for slide {slide_index}", **place, **change, "note": note}
    raise Sorry(f"Unsupported operation: {operation}. Use 'set', 'remove', or 'get'")
