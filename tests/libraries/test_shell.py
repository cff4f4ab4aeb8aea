"""The shell over the files of a world: what commands do, what remains, and what never gets to the host."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.shells import out, run, simulator

from mcp_sim.simulator.persistence import StoreKeeper, identity
from mcp_sim.types import Json
from mcp_sim.types.errors import McpSimError
from mcp_sim.types.kinds import stores
from mcp_sim.world.world import World


@pytest.mark.parametrize(
    ("command", "stdout", "code"),
    [
        ("cat link | wc -l", "2\n", 0),
        ("./run.sh x", "ran x\n", 3),
        (
            "base64 data.bin; xxd -p data.bin; hexdump -C data.bin | head -1 | cut -c1-18",
            "AP8Q\n00ff10\n00000000  00 ff 10\n",
            0,
        ),
        ("date +%T; sleep 1m; date '+%F %T'", "09:00:01\n2029-03-01 09:01:01\n", 0),
        ("date -d '2 days ago' +%F; date -d @0 +%c", "2029-02-27\nThu Jan  1 00:00:00 1970\n", 0),
        ("date -d yesterday +%F; touch -d 'today' a.txt; date -r a.txt +%F", "2029-02-28\n2029-03-01\n", 0),
        ("ls -l link run.sh | cut -c1-25", "lrwxrwxrwx 1 root root  5\n-rwxr-xr-x 1 root root 19\n", 0),
        ("sed s/one/1/ a.txt | diff a.txt -", "1c1\n< one\n---\n> 1\n", 1),
        ("tar czf t.tgz a.txt run.sh && rm a.txt && tar xvzf t.tgz && cat a.txt", "a.txt\nrun.sh\none\ntwo\n", 0),
        ("md5sum <(cat a.txt) | cut -c1-8; id -un; uname -s", "2094b601\nroot\nLinux\n", 0),
        ("curl -sS http://localhost:8080/health; curl -sS localhost:9", "fine\n", 7),
        ("systemctl stop api; pgrep -f api; systemctl start api; pgrep -f api", "1400\n", 0),
        ("kill -HUP 400; kill -0 400 && pkill -HUP api; pgrep api; kill 400; pgrep api; kill 400", "400\n", 1),
        ("kill -9 $(pgrep -f api); curl -sS localhost:8080/health", "", 7),
        ("x=1; f() { echo $x; }; f; exit 4", "1\n", 4),
        ("echo $(( 6 * 7 )); for i in a b; do echo $i; done | tac", "42\nb\na\n", 0),
        ("nosuch", "", 127),
        ("if", "", 2),
    ],
)
async def test_commands_print_what_linux_prints(tmp_path: Path, command: str, stdout: str, code: int) -> None:
    services = {"api": {"port": 8080, "responses": {"/health": "fine\n"}}}
    async with simulator(tmp_path, state={"services": services}).open(seed=1) as world:
        result = await run(world, command, workdir="/app")
        assert (result["stdout"], result["exit_code"]) == (stdout, code), result


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"fils": {"/a": "x"}}, "unknown key 'fils'; did you mean 'files'?"),
        ({"files": {"/a": {"text": "x", "moed": "755"}}}, "files: /a: unknown key 'moed'; did you mean 'mode'?"),
        ({"services": {"api": {"prot": 80}}}, "services: api: unknown key 'prot'; did you mean 'port'?"),
        ({"partitions": {"/": {"size": "x"}}}, "partitions: /: size: expected a whole number, got 'x'"),
        ({"tests": {"/app": {"a.py::test": {"neds": {}}}}}, "tests: a.py::test: unknown key 'neds'; did you mean"),
    ],
)
async def test_an_odd_state_is_refused_with_its_place(tmp_path: Path, state: Json, message: str) -> None:
    with pytest.raises(McpSimError) as refusal:
        async with simulator(tmp_path, state=state).open():
            pass
    assert message in str(refusal.value)


async def test_nothing_shows_what_runs_the_commands(tmp_path: Path) -> None:
    everything = (
        "uname -a; cat /etc/os-release /etc/passwd /etc/hosts /proc/version /proc/cpuinfo; env; set; df; ps aux; "
        "apt install x; pip install y; gti status; docker ps; hostname; ls -la / /etc /root /home; which ls; id; "
        "su -; ssh depot; scp a b; rsync a b; nano a; vi a; fc; hostname x; help; openssl; busybox; declare; "
        "for program in awk base64 bash busybox curl hostname less make man sed sudo yq; do "
        "$program --version; $program --help; done < /dev/null"
    )
    async with simulator(tmp_path).open(seed=1) as world:
        text = (await out(world, everything)).lower()
        assert "sandbox" not in text
        assert "bashkit" not in text
        assert "did you mean" not in text
        assert "command not found." not in text
        assert "virtual mode" not in text
        assert "\nsed (gnu sed) 4.9\n" in text
        assert "\nbase64 (gnu coreutils) 9.1\n" in text
        assert "bash: line 1: gti: command not found" in text


async def test_the_end_of_a_line_in_a_file_is_kept(tmp_path: Path) -> None:
    line = "make: command not found. Please install build-essential first\n"
    script = {"text": "gti\n", "mode": "755"}
    async with simulator(tmp_path, {"/log": line, "/run.sh": script}).open(seed=1) as world:
        assert await out(world, "cat /log; cat /log >&2") == line * 2
        assert await out(world, "cd /; ./run.sh 2>&1; nosuch 2>&1") == (
            "./run.sh: line 1: gti: command not found\nbash: line 1: nosuch: command not found\n"
        )


async def test_files_are_written_and_removed_in_the_order_of_their_paths(tmp_path: Path) -> None:
    files = [f"/app/logs/{number}.log" for number in range(8)]
    async with simulator(tmp_path).open(seed=1) as world:
        await run(world, f"mkdir -p logs && touch {' '.join(reversed(files))}", workdir="/app")
        await run(world, "rm -r logs", workdir="/app")
        written, removed = ([change["key"] for change in entry["step"]["committed"]] for entry in [*world.ledger][-2:])
    assert [key for key in written if key in files] == files
    assert [key for key in removed if key in files] == files


async def test_a_session_remembers_and_a_fork_goes_on_from_it(tmp_path: Path) -> None:
    async with simulator(tmp_path).open(seed=1) as world:
        await run(world, "cd /app; export A='a b'; n=(x 'y z'); f() { echo \"f $1 $A\"; }; alias ll='ls -l'")
        twin = world.fork()
        await run(twin, "A=other; echo twin > twin.txt")
        assert await out(world, "f 1; pwd; echo ${n[1]}; ls") == "f 1 a b\n/app\ny z\na.txt\ndata.bin\nlink\nrun.sh\n"
        assert await out(twin, "f 2; ls *.txt") == "f 2 other\na.txt\ntwin.txt\n"
        assert await out(world, "pwd", workdir="/etc") == "/etc\n"
        assert await out(world, "pwd; cat", stdin="in\n") == "/app\nin\n"


async def test_only_changes_are_written_and_other_tools_see_them(tmp_path: Path) -> None:
    async with simulator(tmp_path).open(seed=1) as world:
        await run(world, "cat /app/a.txt | grep one; ls -la /app; find /app; wc -l < /app/a.txt")
        assert not world.ledger.steps[-1]["committed"]
        await run(world, "cd /app && echo three >> a.txt; mkdir new; mv run.sh new/; chmod 600 data.bin; ln -s a.txt b")
        written = {(change["op"], change["key"]) for change in world.ledger.steps[-1]["committed"]}
        places = {"a.txt", "new", "new/run.sh", "data.bin", "b"}
        assert written == {("put", f"/app/{name}") for name in places} | {("remove", "/app/run.sh"), ("put", "main")}
        rows = {name: world.view.get("file", f"/app/{name}") or {} for name in places - {"new"}}
        assert rows["a.txt"]["content"] == "one\ntwo\nthree\n"
        assert (rows["data.bin"]["mode"], rows["data.bin"]["encoding"], rows["data.bin"]["content"]) == (
            "600",
            "base64",
            "AP8Q",
        )
        assert (rows["b"]["target"], rows["new/run.sh"]["mode"]) == ("a.txt", "755")


WRITING = (
    "env cp a.txt new",
    "env -u X A=1 cp a.txt new",
    "timeout -s KILL 5 cp a.txt new",
    "find . -name a.txt -exec cp {} new \\;",
    "find . -name a.txt -fprint new",
    "echo a.txt | xargs -I{} cp {} new",
    "xargs -n 1 touch <<< new",
    "echo a.txt new | xargs uniq",
    "echo -o new a.txt | xargs sort",
    "sort -o new a.txt",
    "sort a.txt --output=new",
    "uniq a.txt new",
    "xxd a.txt new",
    "awk '{print > \"new\"}' a.txt",
    "x=$(touch new)",
    "find . -name a.txt | while read f; do cp $f new; done",
    "x=touch; $x new",
    "eval touch new",
)


@pytest.mark.parametrize("command", WRITING)
async def test_files_that_are_written_in_a_roundabout_way_are_found(tmp_path: Path, command: str) -> None:
    async with simulator(tmp_path).open(seed=1) as world:
        await run(world, f"cd /app; {command}")
        assert world.view.get("file", "/app/new") is not None


SESSION = (
    "cd /app; RAN=$RANDOM; echo $RAN; shuf -i 1-99 | head -3; mktemp; uuidgen; date +%s; echo $EPOCHSECONDS",
    "touch new; ls -la; stat -c '%n %Y' *; du -a; find . -newer a.txt",
    "tar cf x.tar *; md5sum x.tar; tar tvf x.tar; mkdir -p d/e; ls -laR",
    "cat /dev/urandom | head -c 4 | xxd; tr -dc a-z < /dev/random | head -c 9;  echo $RANDOM $RANDOM",
)


async def test_a_seed_gives_the_same_session_also_in_shells_that_are_built_again(tmp_path: Path) -> None:
    loaded = simulator(tmp_path)
    await loaded.start()

    async def session(*, forks: bool) -> list[str]:
        world, texts = loaded.world(seed=7), list[str]()
        for command in SESSION:
            if forks:  # the parent takes the running shell: the fork gets a new one
                parent, world = world, world.fork()
                await run(parent, "true")
            texts.append(await out(world, command))
        return texts

    first = await session(forks=False)
    assert first == await session(forks=False)
    assert first == await session(forks=True)


async def test_a_session_outlives_the_commands_that_an_interpreter_may_run(tmp_path: Path) -> None:
    async with simulator(tmp_path).open(seed=1) as world:
        await run(world, "cd /app; n=7; g() { echo g; }")
        for _ in range(4):
            assert (await run(world, "for i in $(seq 49990); do :; done; echo x >> x.txt"))["exit_code"] == 0
        assert (await run(world, "while :; do :; done"))["exit_code"] == 137
        for _ in range(250):  # an interpreter runs a thousand scripts, and a call needs several
            assert (await run(world, "f() { :; }; true"))["exit_code"] == 0
        assert await out(world, "wc -l < x.txt; echo $n; g") == "4\n7\ng\n"


BYTES = "head -c 20 /dev/urandom | md5sum"


async def test_a_new_interpreter_that_loses_bytes_is_replaced_by_one_that_keeps_them(tmp_path: Path) -> None:
    async with simulator(tmp_path).open(seed=1) as world:
        loop = "for i in $(seq 40000); do :; done"
        for _ in range(2):
            await run(world, loop)
        result = await run(world, f"{loop}; {BYTES}")  # an interpreter does not run the third loop
        assert (len(result["stdout"]), result["stderr"], result["exit_code"]) == (36, "", 0)


async def test_a_command_that_asks_after_its_first_effect_does_not_begin_again(tmp_path: Path) -> None:
    async with simulator(tmp_path, {"/app/new": "", "/app/old": "1\n", "/app/d/old": "2\n"}).open(seed=1) as world:
        result = await run(world, f"{BYTES} > /dev/null; cd /app; echo y | mv -i new old d")
        assert (result["stderr"], result["exit_code"]) == ("mv: overwrite 'd/old'? ", 0)
        assert await out(world, "cat d/old; ls . d") == "1\n.:\nd\n\nd:\nnew\nold\n"


async def test_worlds_at_once_keep_their_own_files(tmp_path: Path) -> None:
    loaded = simulator(tmp_path)
    await loaded.start()
    worlds = [loaded.world(seed=seed) for seed in range(6)]

    async def play(world: World, number: int) -> str:
        for step in range(5):
            await run(world, f"cd /app; echo {number} >> own.txt; v{number}={step}")
        return await out(world, f"cat own.txt | sort | uniq -c; echo $v{number} $v{number + 1}")

    texts = await asyncio.gather(*(play(world, number) for number, world in enumerate(worlds)))
    assert texts == [f"      5 {number}\n4\n" for number in range(6)]


async def test_a_lost_answer_leaves_the_line_and_a_phantom_does_not(tmp_path: Path) -> None:
    faults = [
        {"lost_ack": {}, "id": "lost", "tools": "run_command", "when": {"nth": 1}},
        {"phantom_success": {}, "id": "phantom", "tools": "run_command", "when": {"nth": 2}},
    ]
    async with simulator(tmp_path, perturbations=faults).open(seed=1) as world:
        assert not (await world.call("run_command", {"command": "echo a >> /app/a.txt"})).ok
        assert (await world.call("run_command", {"command": "echo b >> /app/a.txt; z=5"})).ok
        assert await out(world, "cat /app/a.txt; echo [$z]") == "one\ntwo\na\n[]\n"


async def test_a_stored_world_goes_on_after_a_restart(tmp_path: Path) -> None:
    store = stores["sqlite"].model_validate({"path": tmp_path / "worlds.db"})

    async def in_a_process_of_its_own(command: str) -> str:
        loaded = simulator(tmp_path)
        with store.open(identity(loaded.scenario, None, "1")) as opened:
            async with loaded:
                return await out(StoreKeeper(loaded, opened, "w").world(None, "virtual"), command)

    await in_a_process_of_its_own("cd /app; n=5; echo kept > kept.txt; chmod 700 kept.txt")
    assert await in_a_process_of_its_own("cat kept.txt; echo $n; stat -c %a kept.txt") == "kept\n5\n700\n"
