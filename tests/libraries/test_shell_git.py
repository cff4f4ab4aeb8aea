"""git in the shell, beside the real one: the same commands in the same order, with the same dates and identities."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from datetime import datetime
from pathlib import Path

import pytest
from support.shells import run, simulator

COMMANDS = r"""
git init -b main
git config user.name "Ann B"; git config user.email ann@depot.example
printf 'a\nb\nc\nd\ne\nf\ng\n' > f.txt; mkdir -p src/x; echo 'print(1)' > src/m.py; echo hi > src/x/y.txt
git status
git status -s
git add .; git status
git commit -m "First commit"
git log
sed -i s/c/C/ f.txt; echo new > n.txt; rm src/x/y.txt; git status; git status --short
git diff; git diff --stat; git diff --name-only
git add -A; git diff --cached --name-status
git commit -m "Second" -m "Body text"; git show --stat; git show HEAD:f.txt
git log --format='%h %an %ae %s %ad'
git checkout -b feature; sed -i s/g/GG/ f.txt; git commit -am "Feature change"
git checkout main; sed -i s/a/AA/ f.txt; git commit -qam "Main change"
git merge feature
git branch; git branch -v; git log --oneline -3
git branch --list main; git branch -l 'f*' nosuch; git tag --list
git checkout -b conf HEAD~1; sed -i s/AA/conf/ f.txt; sed -i s/d/dconf/ f.txt; git commit -qam "Conf"
git checkout -q main
sed -i s/d/dmain/ f.txt; git commit -qam "D on main"
git merge conf
git status; git status -s; cat f.txt
git diff --name-only --diff-filter=U; git diff --name-only; git diff --name-status; git diff --name-only --diff-filter=u
git diff --cached --name-only; git diff --name-status --diff-filter=AM; git diff HEAD --name-only; git diff HEAD
git diff --quiet; git diff --quiet --cached || git diff --quiet --cached --diff-filter=A; git diff --exit-code > out
rm out; git diff --quiet; git diff --quiet --diff-filter=u; git diff --quiet --diff-filter=mu
git diff --quiet || echo changed; git diff --quiet --diff-filter=u || echo changed; git diff --quiet --stat
git diff --name-only --exit-code --diff-filter=U || git diff --name-only --exit-code --diff-filter=A
git diff --diff-filter=Q; git show --diff-filter=Mz; git diff --diff-filter=mtx --name-only
git show --diff-filter=A; git show --diff-filter=M --name-only --oneline; git show --diff-filter=A -s --oneline HEAD~2
git commit -m x
git merge --abort; git merge --continue; git status
git merge conf; sed -i '/^<<<<<<<\|^=======\|^>>>>>>>/d' f.txt; git add f.txt; git status; git commit -m "Merge conf"
git log --oneline; git blame f.txt
echo wip >> f.txt; git stash; git stash list; git status
git stash pop > /dev/null; git diff; git checkout -- f.txt; git status
git checkout nosuch; git log nosuch; git add nosuch; git branch nope nosuch; git switch nosuch
git diff HEAD~1 HEAD --stat; git diff HEAD~1..HEAD -- f.txt
git reset --hard HEAD~1; git branch -d feature; git branch -d conf
git rev-parse HEAD; git rev-parse --abbrev-ref HEAD; git rev-parse --show-toplevel
git tag v1; git tag; git ls-files; echo x > new.txt; git clean -n; git clean -f
git rm n.txt; git status; git commit -m rm; git commit -m nothing; git log -1 -p
echo z >> f.txt; git add f.txt; git restore --staged f.txt; git status -s; git restore f.txt; git status -s
git cherry-pick conf
git push; git reflog -3
""".strip().splitlines()


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git to compare with")
async def test_commands_print_what_git_prints(tmp_path: Path) -> None:
    real = tmp_path / "depot"
    real.mkdir()
    settings = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    async with simulator(tmp_path, {f"{real}/": None}).open(seed=1) as world:
        for command in COMMANDS:
            served = await run(world, command, workdir=str(real))
            seconds = int(datetime.fromisoformat(world.ledger.steps[-1]["at"]).timestamp())
            dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{seconds} +0000")
            known = await asyncio.to_thread(real_output, command, real, {**settings, **dates})
            assert (served["stdout"], served["stderr"], served["exit_code"]) == known, command


def real_output(command: str, folder: Path, environment: dict[str, str]) -> tuple[str, str, int]:
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        check=False, timeout=60,
    )  # fmt: skip
    return done.stdout, done.stderr, done.returncode
