"""cp, mv, rm, mkdir and chmod, with the options and words of GNU."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from mcp_sim.libraries.files import is_within
from mcp_sim.libraries.shell.commands.invocation import Body, Failed, Invocation, Node
from mcp_sim.libraries.shell.commands.listing import mode_text

_PLACING = (
    "recursive:r verbose:v no-clobber:n update=? force:f interactive=? archive:a parents target-directory:t "
    "no-target-directory:T backup=? suffix:S preserve=? dereference:L no-dereference:P link:l symbolic-link:s "
    "strip-trailing-slashes one-file-system:x"
)
_REMOVING = "recursive:r force:f verbose:v dir:d interactive=? one-file-system preserve-root no-preserve-root"
_CHANGING = "recursive:R verbose:v changes:c silent:f quiet:f reference= preserve-root no-preserve-root"
_STEP = re.compile(r"([ugoa]*)([-+=])([rwxXst]*)")
_SHIFTS = {"u": 6, "g": 3, "o": 0}
_BITS = {"r": 4, "w": 2, "x": 1}


def _has(options: Mapping[str, str], *names: str) -> bool:
    return not options.keys().isdisjoint(names)


class _Placing:
    """One run of cp or mv."""

    def __init__(self, run: Invocation, short: str) -> None:
        self._run = run
        self._options, self._paths = run.options(short, _PLACING)
        self._moves = run.name == "mv"
        self._keeps = _has(self._options, "p", "a", "preserve")
        self._recurses = _has(self._options, "r", "R", "a")
        self._is_backup = _has(self._options, "b", "backup")

    def place_all(self) -> None:
        """Copy or move the sources to the target."""
        run, name = self._run, self._run.name
        help_text = f"Try '{name} --help' for more information.\n"
        folder = self._options.get("t")
        if not self._paths:
            raise Failed(f"{name}: missing file operand\n{help_text}")
        if len(self._paths) == 1 and folder is None:
            raise Failed(f"{name}: missing destination file operand after '{self._paths[0]}'\n{help_text}")
        *sources, target = [*self._paths, folder] if folder is not None else self._paths
        node = run.look(target, follow=True)
        is_folder = node is not None and node.is_directory and "T" not in self._options
        if not is_folder and (len(sources) > 1 or folder is not None or "parents" in self._options):
            kind = "target directory" if folder is not None else "target"
            why = "No such file or directory" if node is None else "Not a directory"
            raise Failed(f"{name}: {kind} '{target}': {why}\n")
        for source in sources:
            end = source.rstrip("/") or "/"
            if "parents" in self._options:
                folder = posixpath.join(self._run.place(target), posixpath.dirname(end).lstrip("/"))
                if not self._run.fs.exists(folder):
                    self._run.fs.mkdir(folder, True)
                self._place(source, posixpath.join(target, end.lstrip("/")))
            else:
                self._place(source, posixpath.join(target, posixpath.basename(end)) if is_folder else target)

    def _place(self, source: str, target: str) -> None:
        """Copy or move a source to its own place."""
        run, name = self._run, self._run.name
        follows = not self._moves and not self._recurses
        node, old = run.look(source, follow=follows), run.look(target)
        place = run.place(target)
        if node is None or (source.endswith("/") and not node.is_directory):
            why = "No such file or directory" if node is None else "Not a directory"
            run.fail(f"{name}: cannot stat '{source}': {why}\n")
        elif node.is_directory and not self._moves and not self._recurses:
            run.fail(f"cp: -r not specified; omitting directory '{source}'\n")
        elif old is not None and (old.path == node.path or self._is_same(old, node)):
            run.fail(f"{name}: '{source}' and '{target}' are the same file\n")
        elif node.is_directory and is_within(place, [node.path]):
            act = "cannot move '{0}' to a subdirectory of itself, '{1}'" if self._moves else (
                "cannot copy a directory, '{0}', into itself, '{1}'")  # fmt: skip
            run.fail(f"{name}: {act.format(source, target)}\n")
        elif run.look(posixpath.dirname(place), follow=True) is None or (target.endswith("/") and old is None):
            kind = "directory" if node.is_directory else "regular file"
            act = f"cannot move '{source}' to '{target}'" if self._moves else f"cannot create {kind} '{target}'"
            if not (target.endswith("/") and node.is_directory):
                why = "Not a directory" if target.endswith("/") else "No such file or directory"
                run.fail(f"{name}: {act}: {why}\n")
                return
            self._write(source, target.rstrip("/"), node)
        elif old is None or self._replaces(source, target, node, old):
            self._write(source, target, node)

    def _is_same(self, old: Node, node: Node) -> bool:
        """Whether both are one file, through a symbolic link."""
        led = self._run.look(old.path, follow=True)
        return not self._moves and led is not None and led.path == node.path

    def _replaces(self, source: str, target: str, node: Node, old: Node) -> bool:
        """Return whether an existing target is replaced, after a report if it cannot be."""
        run, name = self._run, self._run.name
        led = run.look(target, follow=True) or old
        if node.is_directory and not led.is_directory:
            run.fail(f"{name}: cannot overwrite non-directory '{target}' with directory '{source}'\n")
            return False
        if old.is_directory and not node.is_directory:
            run.fail(f"{name}: cannot overwrite directory '{target}' with non-directory\n")
            return False
        if "n" in self._options:
            return False
        if _has(self._options, "u", "update") and old.modified >= node.modified:
            return False
        if _has(self._options, "i", "interactive") and not _agrees(run, f"{name}: overwrite '{target}'? "):
            return False
        if node.is_directory and self._moves and run.list(old.path):
            run.fail(f"mv: cannot move '{source}' to '{target}': Directory not empty\n")
            return False
        if self._is_backup and not old.is_directory:
            run.fs.rename(old.path, f"{old.path}{self._options.get('S', '~')}")
        elif self._moves:
            run.fs.remove(old.path, True)
        return True

    def _write(self, source: str, target: str, node: Node) -> None:
        run = self._run
        place = run.place(target)
        if self._moves:
            run.fs.rename(node.path, place)
            run.date(place, node.modified)
            self._report(f"renamed '{source}' -> '{target}'\n")
            return
        link = node.path if "s" in self._options else node.target
        if node.is_directory:
            if not run.fs.exists(place):
                run.fs.mkdir(place)
                run.fs.chmod(place, node.mode)
                self._report(f"'{source}' -> '{target}'\n")
            for child in run.list(node.path):
                self._place(posixpath.join(source, child.name), posixpath.join(target, child.name))
        elif link:
            if run.look(target) is not None:
                run.fs.remove(place)
            run.fs.symlink(link, place)
            self._report(f"'{source}' -> '{target}'\n")
        else:
            led = run.look(target, follow=True)
            is_new = led is None
            end = place if led is None else led.path
            if not is_within(end, ["/dev"]):
                run.fs.write_file(end, run.fs.read_file(node.path))
            if is_new or self._keeps:
                run.fs.chmod(end, node.mode if self._keeps else node.mode & 0o777)
            self._report(f"'{source}' -> '{target}'\n")
        if self._keeps and not link:
            run.date(place, node.modified)

    def _report(self, line: str) -> None:
        if "v" in self._options:
            self._run.out.append(line)


def _agrees(run: Invocation, question: str) -> bool:
    """Ask on stderr, and return whether the next line of the input agrees."""
    run.errors.append(question)
    return run.take_line()[:1] in ("y", "Y")


def cp(run: Invocation) -> None:
    _Placing(run, "rRapfvniut:TbS:sldLPHx").place_all()


def mv(run: Invocation) -> None:
    _Placing(run, "fvniut:TbS:").place_all()


def rm(run: Invocation) -> None:
    options, paths = run.options("rRfvidI", _REMOVING)
    is_forced = "f" in options
    order = [name for name in options if name in ("f", "i", "interactive")]
    asks = bool(order) and order[-1] in ("i", "interactive")
    if not paths and not is_forced:
        raise Failed("rm: missing operand\nTry 'rm --help' for more information.\n")
    for path in paths:
        node = run.look(path)
        problem = _why_kept(run, path, node, options)
        if node is None or problem:
            run.fail(f"rm: {problem}\n") if problem and not (node is None and is_forced) else None
            continue
        for shown, inner in [*_deepest_first(run, path, node)] if asks or "v" in options else ():
            if asks and not _agrees(run, _question(shown, inner)):
                return
            kind = "directory " if inner.is_directory else ""
            run.out += [f"removed {kind}'{shown}'\n"] if "v" in options else []
        try:
            run.fs.remove(node.path, True)
        except RuntimeError:  # the interpreter does not let go of what is mounted
            run.fail(f"rm: cannot remove '{path}': Device or resource busy\n")


def _why_kept(run: Invocation, path: str, node: Node | None, options: Mapping[str, str]) -> str:
    """Return why rm does not remove a path; '' if it does."""
    recurses = _has(options, "r", "R")
    if posixpath.basename(path.rstrip("/")) in (".", "..") and path.strip("/"):
        return f"refusing to remove '.' or '..' directory: skipping '{path}'"
    if run.place(path) == "/":
        use = "use --no-preserve-root to override this failsafe"
        return f"it is dangerous to operate recursively on '/'\nrm: {use}"
    if node is None:
        return f"cannot remove '{path}': No such file or directory"
    if node.is_directory and not recurses and "d" not in options:
        return f"cannot remove '{path}': Is a directory"
    if node.is_directory and not recurses and run.list(node.path):
        return f"cannot remove '{path}': Directory not empty"
    return ""


def _question(shown: str, node: Node) -> str:
    kind = "directory" if node.is_directory else "symbolic link" if node.is_link else (
        "regular file" if node.size else "regular empty file")  # fmt: skip
    return f"rm: remove {kind} '{shown}'? "


def _deepest_first(run: Invocation, path: str, node: Node) -> Iterator[tuple[str, Node]]:
    for child in run.list(node.path) if node.is_directory else ():
        yield from _deepest_first(run, posixpath.join(path, child.name), child)
    yield path, node


def mkdir(run: Invocation) -> None:
    options, paths = run.options("pvm:", "parents:p verbose:v mode:m")
    given = options.get("m")
    if not paths:
        raise Failed("mkdir: missing operand\nTry 'mkdir --help' for more information.\n")
    mode = (
        0o755
        if given is None
        else _changed(given, 0o777, is_directory=True, problem=f"mkdir: invalid mode '{given}'\n")
    )
    for path in paths:
        steps = [path]
        while "p" in options and posixpath.dirname(steps[0].rstrip("/")) not in ("", "/"):
            steps.insert(0, posixpath.dirname(steps[0].rstrip("/")))
        for step in steps:
            old = run.look(step, follow=True)
            if old is not None and "p" in options and old.is_directory:
                continue
            above = run.look(posixpath.dirname(run.place(step)), follow=True)
            if old is not None or above is None or not above.is_directory:
                why = (
                    "File exists"
                    if old is not None
                    else "No such file or directory"
                    if above is None
                    else "Not a directory"
                )
                run.fail(f"mkdir: cannot create directory '{path if old is None else step}': {why}\n")
                break
            run.fs.mkdir(posixpath.join(above.path, posixpath.basename(run.place(step))))
            run.fs.chmod(run.place(step), mode if step == path else 0o755)
            run.out += [f"mkdir: created directory '{step}'\n"] if "v" in options else []


def chmod(run: Invocation) -> None:
    words = [word for word in run.arguments if not re.fullmatch(r"-[rwxXst]+", word)]
    removed = [word for word in run.arguments if re.fullmatch(r"-[rwxXst]+", word)]
    run.arguments = words
    options, rest = run.options("Rvcf", _CHANGING)
    reference = options.get("reference")
    mode, paths = (removed[0], rest) if removed else ("", rest) if reference else (rest[0] if rest else "", rest[1:])
    if not paths:
        after = f" after '{mode}'" if mode else ""
        raise Failed(f"chmod: missing operand{after}\nTry 'chmod --help' for more information.\n")
    if reference:
        node = run.look(reference, follow=True)
        if node is None:
            raise Failed(f"chmod: failed to get attributes of '{reference}': No such file or directory\n")
        mode = f"{node.mode:o}"
    problem = f"chmod: invalid mode: '{mode}'\nTry 'chmod --help' for more information.\n"
    _changed(mode, 0, is_directory=False, problem=problem)
    for path in paths:
        node = run.look(path, follow=True)
        if node is None:
            run.fail(f"chmod: cannot access '{path}': No such file or directory\n")
            continue
        is_deep = "R" in options
        for shown, inner in reversed([*_deepest_first(run, path, node)]) if is_deep else [(path, node)]:
            if not inner.is_link:
                after = _changed(mode, inner.mode, is_directory=inner.is_directory, problem=problem)
                run.fs.chmod(inner.path, after)
                _report_mode(run, options, shown, inner, after)


def _report_mode(run: Invocation, options: Mapping[str, str], shown: str, node: Node, after: int) -> None:
    if after == node.mode:
        kept = f"mode of '{shown}' retained as {after:04o} ({mode_text(node)[1:]})\n"
        run.out += [kept] if "v" in options else []
    elif _has(options, "v", "c"):
        new = mode_text(Node(node.path, node.kind, after, 0, node.modified))[1:]
        run.out.append(
            f"mode of '{shown}' changed from {node.mode:04o} ({mode_text(node)[1:]}) to {after:04o} ({new})\n"
        )


def _changed(text: str, mode: int, *, is_directory: bool, problem: str) -> int:
    """Return a mode after a change in octal digits or in steps such as `u+x,go=`. Fails if the text is neither."""
    if re.fullmatch(r"[0-7]{1,5}", text):
        return int(text, 8) & 0o7777 | (mode & 0o6000 if is_directory and len(text) < 5 else 0)
    for step in text.split(","):
        match = _STEP.fullmatch(step)
        if match is None:
            raise Failed(problem)
        whom, sign, letters = match.groups()
        whom = "ugo" if not whom or "a" in whom else whom
        bits = sum(_BITS.get(letter, 0) for letter in {*letters} - {"X"})
        bits |= 1 if "X" in letters and (is_directory or mode & 0o111) else 0
        special = (0o4000 if "s" in letters and "u" in whom else 0) | (0o2000 if "s" in letters and "g" in whom else 0)
        special |= 0o1000 if "t" in letters else 0
        change = sum(bits << _SHIFTS[who] for who in {*whom}) | special
        if sign == "=":
            mode &= ~sum(7 << _SHIFTS[who] for who in {*whom})
        mode = mode & ~change if sign == "-" else mode | change
    return mode


BODIES: Mapping[str, Body] = {"cp": cp, "mv": mv, "rm": rm, "mkdir": mkdir, "chmod": chmod}
