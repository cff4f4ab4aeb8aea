"""Interpret the statements of a program's functions, and find what they do to tables."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from mcp_sim.spec.program_expressions import Expressions, parameters
from mcp_sim.spec.program_values import Value, inside, joined


class Body(Expressions):
    """Interprets the statements of one function in order."""

    _loops = 0
    """How many loops a statement is in."""

    def visit_Assign(self, node: ast.Assign) -> None:
        targets = node.targets
        if len(targets) == 1 and (pairs := _pairs(targets[0], node.value)):
            assigned = [(target, self.visit(value)) for target, value in pairs]
        else:
            value = self.visit(node.value)
            assigned = [(target, value) for target in targets]
        for target, value in assigned:
            self.assign(target, value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.visit(node.value))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.visit(node.value)
        self.assign(node.target, value)
        return value

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        value = self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.grow(node.target, self.items(value))
        else:
            self.assign(node.target, value)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                self.write(self.visit(target.value))

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            self.returned = joined((self.returned, self.visit(node.value)))

    def visit_Yield(self, node: ast.Yield) -> None:
        if node.value is not None:
            self.returned = joined((self.returned, inside(self.visit(node.value))))

    def visit_YieldFrom(self, node: ast.YieldFrom) -> None:
        self.returned = joined((self.returned, self.visit(node.value)))

    def visit_For(self, node: ast.For) -> None:
        for _ in self._rounds(node):
            self.bind(node.target, node.iter)
            self._branch(node.body)

    def visit_While(self, node: ast.While) -> None:
        for _ in self._rounds(node):
            self.visit(node.test)
            self._branch(node.body)

    def _rounds(self, node: ast.For | ast.While) -> Iterator[None]:
        """Yield for each round of a loop. An inner loop is repeated with the outer one."""
        self._loops += 1
        yield from (None,) if self._loops > 1 else (None, None)
        self._loops -= 1
        self._branch(node.orelse)

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._branch(node.body)
        self._branch(node.orelse)

    def visit_Try(self, node: ast.Try) -> None:
        self._branch(node.body)
        for handler in node.handlers:
            self._branch(handler.body)
        self._branch(node.orelse)
        self._branch(node.finalbody)

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        for case in node.cases:
            if case.guard is not None:
                self.visit(case.guard)
            self._branch(case.body)

    def _branch(self, statements: Iterable[ast.AST]) -> None:
        """Interpret statements that may not run: variables keep what they were before."""
        self._branches += 1
        self.read(statements)
        self._branches -= 1

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Interpret a function within the function where it is defined. Nothing is known of its arguments."""
        returned, self.returned = self.returned, ()
        with self.shadowed(parameters(node.args)):
            self._branch(node.body)
        self._inner[node.name], self.returned = self.returned, returned


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return the single assignments of `a, b = x, y`."""
    match target, value:
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            is_plain = not any(isinstance(node, ast.Starred) for node in (*targets, *values))
            return [*zip(targets, values, strict=True)] if is_plain else []
        case _:
            return []
