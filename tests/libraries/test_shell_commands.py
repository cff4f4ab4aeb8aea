"""Commands with rarer options, beside what GNU printed for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.shells import run, simulator

FILES = {
    "/lab/empty.txt": "",
    "/lab/people.csv": {"text": "name,age\nann,31\nbob,25\n", "mtime": "2029-01-01T00:00:00Z"},
    "/lab/people.bak": {"text": "name,age\nann,31\n", "mtime": "2029-02-01T00:00:00Z"},
    "/lab/src/hello.c": "#include <stdio.h>\nint main(void) { return 0; }\n",
    "/lab/src/run.sh": {"text": "#!/bin/bash\necho hi\n", "mode": "755"},
    "/lab/src/broken": {"target": "nowhere"},
    "/lab/u.json": '{"n": 1}\n',
    "/lab/b.bin": {"base64": "AAEC//4="},
}
PRINTED = {
    "cp -v src/hello.c /tmp/": "'src/hello.c' -> '/tmp/hello.c'\n",
    "cp --parents src/hello.c /tmp && ls /tmp/src": "hello.c\n",
    "cp -u people.csv people.bak && wc -l people.bak": "2 people.bak\n",
    "cp -p people.csv p && stat -c %y p": "2029-01-01 00:00:00.000000000 +0000\n",
    "cp src q; cp nosuch q; cp -r src src/q": (
        "cp: -r not specified; omitting directory 'src'\ncp: cannot stat 'nosuch': No such file or directory\n"
        "cp: cannot copy a directory, 'src', into itself, 'src/q'\n"
    ),
    "mv -v src/hello.c h.c": "renamed 'src/hello.c' -> 'h.c'\n",
    "mv -n people.csv people.bak; ls *.csv": "people.csv\n",
    "mv -b people.csv people.bak; ls people*": "people.bak\npeople.bak~\n",
    "mv src src/in; mv people.csv u.json nosuch": (
        "mv: cannot move 'src' to a subdirectory of itself, 'src/in'\nmv: target 'nosuch': No such file or directory\n"
    ),
    "rm -v empty.txt; rm -rv src | sort": (
        "removed 'empty.txt'\nremoved 'src/broken'\nremoved 'src/hello.c'\nremoved 'src/run.sh'\n"
        "removed directory 'src'\n"
    ),
    "rm -i empty.txt < /dev/null; ls empty.txt": "empty.txt\nrm: remove regular empty file 'empty.txt'? ",
    "rm src; rm nosuch; rm -f nosuch": (
        "rm: cannot remove 'src': Is a directory\nrm: cannot remove 'nosuch': No such file or directory\n"
    ),
    "mkdir -v -p x/y; mkdir x; mkdir n/m": (
        "mkdir: created directory 'x'\nmkdir: created directory 'x/y'\n"
        "mkdir: cannot create directory 'x': File exists\n"
        "mkdir: cannot create directory 'n/m': No such file or directory\n"
    ),
    "mkdir -m 700 p; chmod -v 600 empty.txt; chmod -R go-rwx src; stat -c %a p src src/run.sh": (
        "mode of 'empty.txt' changed from 0644 (rw-r--r--) to 0600 (rw-------)\n700\n700\n700\n"
    ),
    "kill -l 9 TERM sigint 137 RTMIN+2; kill -l | tail -n 2; kill -n9 9999; kill -rtmin 9999; kill -9 -- -9": (
        "KILL\n15\n2\nKILL\n36\n58) SIGRTMAX-6\t59) SIGRTMAX-5\t60) SIGRTMAX-4\t61) SIGRTMAX-3\t62) SIGRTMAX-2\n"
        "63) SIGRTMAX-1\t64) SIGRTMAX\t\nbash: line 1: kill: (9999) - No such process\n"
        "bash: line 1: kill: (9999) - No such process\nbash: line 1: kill: (-9) - No such process\n"
    ),
    "kill -l 999; kill -9999 1 || kill -65 1; kill -s || kill -s TERM": (
        "bash: line 1: kill: 999: invalid signal specification\n"
        "bash: line 1: kill: 9999: invalid signal specification\n"
        "bash: line 1: kill: 65: invalid signal specification\n"
        "bash: line 1: kill: -s: option requires an argument\n"
        "kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]\n"
    ),
    "pkill -FOO x; killall -FOO x; pkill -term x; pkill --signal=FOO x; killall -s KILL x": (
        "pkill: pidfile not valid\nTry `pkill --help' for more information.\n"
        "FOO: unknown signal; killall -l lists signals.\nx: no process found\n"
    ),
    "seq -s: --separator=, 3; date -d 2029-01-01 --date=2029-02-03 +%F; mkdir -m 700 --mode=755 p; stat -c %a p": (
        "1,2,3\n2029-02-03\n755\n"
    ),
    "tar -cf u.tar --absolute-names /lab/u.json; tar -tPf u.tar": "/lab/u.json\n",
    "chmod 999 empty.txt": "chmod: invalid mode: '999'\nTry 'chmod --help' for more information.\n",
    "file people.csv src/hello.c u.json src/run.sh empty.txt src src/broken": (
        "people.csv:  CSV text\nsrc/hello.c: C source, ASCII text\nu.json:      JSON text data\n"
        "src/run.sh:  Bourne-Again shell script, ASCII text executable\nempty.txt:   empty\n"
        "src:         directory\nsrc/broken:  broken symbolic link to nowhere\n"
    ),
    "file -b b.bin": "data\n",
    "wc -l src/*": " 2 src/hello.c\n 2 src/run.sh\n 4 total\nwc: src/broken: No such file or directory\n",
    "du --apparent-size -sk people.csv; du -h --time people.csv": "1\tpeople.csv\n4.0K\t2029-01-01 00:00\tpeople.csv\n",
    "xz -k u.json && xzcat u.json.xz; gzip -k u.json && zcat u.json.gz": '{"n": 1}\n{"n": 1}\n',
    "tar cjf a.tbz src && tar tjf a.tbz | wc -l": "4\n",
    "tar cf a people.csv && rm people.csv && tar xf a && stat -c %Y people.csv": "1861920000\n",
    "date -d '2029-02-25 - 1 month' +%F; date -d 'next monday' +%F": "2029-01-25\n2029-03-05\n",
    "date -d '2029-03-01 09:00:00 UTC + 3 days' +%FT%T; date -d '2029-03-01T09:00:00Z - 1 hour' +%T": (
        "2029-03-04T09:00:00\n08:00:00\n"
    ),
    "ps -eo pid,comm; ps -ef | head -1": (
        "    PID COMMAND\n      1 init\n    398 bash\nUID          PID    PPID  C STIME TTY          TIME CMD\n"
    ),
    "ifconfig | head -1; ip link | wc -l": "lo: flags=73<UP,LOOPBACK,RUNNING>  mtu 65536\n2\n",
    "od -An -t fD src/hello.c | head -1; od -td2 -Ax -j 2 -N 4 u.json": (
        "  2.6529260140087887e+180    5.052921202176446e-85\n000002   8814   8250\n000006\n"
    ),
    "od -a -c b.bin": "0000000 nul soh stx del   ~\n         \\0 001 002 377 376\n0000005\n",
    "od -w4 -tx1z -v u.json": (
        '0000000 7b 22 6e 22  >{"n"<\n0000004 3a 20 31 7d  >: 1}<\n0000010 0a           >.<\n0000011\n'
    ),
    "split -b 1k people.csv p_ --numeric-suffixes=1 --additional-suffix=.csv; ls p_*; split -n 3 u.json q; wc -c q*": (
        "p_01.csv\n3 qaa\n3 qab\n3 qac\n9 total\n"
    ),
    "diff --unified=0 people.csv people.bak | tail -1; date -I": "-bob,25\n2029-03-01\n",
    "cat b.bin | od -An -tx1; tail -c 2 b.bin | xxd -p; cat b.bin | sha1sum; md5sum < b.bin; cat b.bin | wc -c": (
        " 00 01 02 ff fe\nfffe\n1b26a7676d5de2059b41f7a09451533f158744da  -\n"
        "38ec78bbc1a4d63eda25f474b99a54ef  -\n5\n"
    ),
    "tar cz src/run.sh | tar tz; xz -c u.json | xz -dc; gzip -c u.json | zcat; xz -c u.json > p.xz && xz -dc p.xz": (
        'src/run.sh\n{"n": 1}\n{"n": 1}\n{"n": 1}\n'
    ),
    "printf 'b.bin\nu.json\n' | while read f; do cat $f | xxd -p; done; xxd -p b.bin | xxd -r -p | cmp - b.bin": (
        "000102fffe\n7b226e223a20317d0a\n"
    ),
    "md5sum u.json nosuch; md5sum --tag u.json; md5sum u.json b.bin >s; echo >>u.json; md5sum -c s; md5sum -c b.bin": (
        "b1d1ee6db4a7a9c3150ed9c41ed4c891  u.json\nMD5 (u.json) = b1d1ee6db4a7a9c3150ed9c41ed4c891\nu.json: FAILED\n"
        "b.bin: OK\nmd5sum: nosuch: No such file or directory\nmd5sum: WARNING: 1 computed checksum did NOT match\n"
        "md5sum: b.bin: no properly formatted checksum lines found\n"
    ),
    "echo \"use find . -size 0 now\"; echo 'touch -d now'; # don't find": "use find . -size 0 now\ntouch -d now\n",
    "cat <<'A' | md5sum\nfind . -mtime +7 -size 0\nA\nfind . -size 0 -mtime -1": (
        "e3bfd5c5d275ded56a6a2b99218d6dbb  -\n./empty.txt\n"
    ),
    'cat <<A\nfind . -size 0 -o -mtime +7: $(find . -name "*.csv" -mtime +7)\nA': (
        "find . -size 0 -o -mtime +7: ./people.csv\n"
    ),
    "bash -c 'find . -name \"*.csv\" -mtime +7'; echo \"[$(find . -size 0)]\"": "./people.csv\n[./empty.txt]\n",
    "find . -size 0; find . -size -2 -type f | sort | head -1; find . -size +7": "./empty.txt\n./b.bin\n.\n./src\n",
    "printf 'b 2\\na 10\\nc 1\\na 2\\n' > p; sort p > q; diff -U1 p q | tail -n +3": (
        "@@ -1,4 +1,4 @@\n-b 2\n a 10\n-c 1\n a 2\n+b 2\n+c 1\n"
    ),
    "printf 'b 2\\na 10\\nc 1\\na 2\\n' > p; sort p > q; diff -y -W 40 p q; diff -yW 30 --suppress-common-lines p q": (
        "b 2\t\t   <\na 10\t\t\ta 10\nc 1\t\t   <\na 2\t\t\ta 2\n\t\t   >\tb 2\n\t\t   >\tc 1\n"
        "b 2\t      <\nc 1\t      <\n\t      >\tb 2\n\t      >\tc 1\n"
    ),
    "seq -s, 1 3 10; seq -w 8 11 | tail -1; seq 0 0.25 0.6; seq -5 -4; seq 300000 | tail -1; seq -f '%02g%%' 1; seq": (
        "1,4,7,10\n11\n0.00\n0.25\n0.50\n-5\n-4\n300000\n01%\n"
        "seq: missing operand\nTry 'seq --help' for more information.\n"
    ),
    "yes a b | wc -l": "262144\n",
    "vim u.json": "bash: line 1: vim: command not found\n",
}  # fmt: skip


@pytest.mark.parametrize("command", PRINTED)
async def test_commands_print_what_gnu_prints(tmp_path: Path, command: str) -> None:
    async with simulator(tmp_path, FILES).open(seed=1) as world:
        result = await run(world, command, workdir="/lab")
        assert result["stdout"] + result["stderr"] == PRINTED[command]


async def test_a_long_output_is_cut_off_and_the_command_goes_on(tmp_path: Path) -> None:
    async with simulator(tmp_path, FILES).open(seed=1) as world:
        result = await run(world, "seq 1 999999; touch /lab/done")
        assert (len(result["stdout"]), result["stdout"][:6], result["exit_code"]) == (1 << 20, "1\n2\n3\n", 0)
        assert world.view.get("file", "/lab/done") is not None


async def test_bytes_in_a_pipe_are_the_same_in_every_run_and_leave_the_session_as_it_was(tmp_path: Path) -> None:
    async with simulator(tmp_path, FILES).open(seed=1) as world:
        await run(world, "cd /lab; n=5; f() { cat $1 | xxd -p; }")
        command = "f b.bin > hex; n=$((n+1)); cat hex; head -c 8 /dev/urandom | od -An -tx1"
        twin = world.fork()
        result = await run(world, command)
        assert result == await run(twin, command)
        assert result["stdout"].startswith("000102fffe\n")
        assert (await run(world, "echo $n; pwd; cat hex"))["stdout"] == "6\n/lab\n000102fffe\n"


async def test_a_backup_beside_a_file_is_kept(tmp_path: Path) -> None:
    async with simulator(tmp_path, FILES).open(seed=1) as world:
        await run(world, "cp -b people.csv people.bak", workdir="/lab")
        assert (world.view.get("file", "/lab/people.bak~") or {})["content"] == "name,age\nann,31\n"
