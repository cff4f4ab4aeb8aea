"""Tools with names, descriptions and fields in other languages than English."""

from __future__ import annotations

import pytest
from support.declared import INTEGER, STRING, Json, domain, obj, tool
from support.strategies import scenario_of

from mcp_sim.plans.infer.names import parse_names
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import ToolResult

NAMES: dict[str, dict[str, str]] = {
    "orden": {"crear_orden": "create", "obtener_orden": "get", "listar_ordenes": "list", "eliminar_orden": "delete"},
    "kunde": {"kunde_anlegen": "create", "aktualisiereKunde": "update", "kunden_holen": "list"},
    "facture": {"créer_facture": "create", "lister_les_factures": "list", "mettre_a_jour_facture": "update"},
    "tarefa": {"criar_tarefa": "create", "excluir_tarefa": "delete", "obter_lista_de_tarefas": "list"},
    "заказ": {"создать_заказ": "create", "список_заказов": "list", "удалить_заказ": "delete", "найти_заказы": "search"},
    "طلب": {"إنشاء_طلب": "create", "قائمة_طلبات": "list", "حذف_طلب": "delete"},
    "订单": {"创建订单": "create", "获取订单": "get", "获取订单列表": "list", "搜索所有订单": "search"},
    "注文": {"注文作成": "create", "注文一覧": "list", "注文を削除": "delete"},
    "주문": {"주문_생성": "create", "주문목록": "list", "주문_삭제": "delete"},
}


@pytest.mark.parametrize("noun", NAMES)
def test_verbs_of_common_languages_are_translated_and_nouns_kept(noun: str) -> None:
    parsed_names = parse_names(NAMES[noun])
    assert {name: (one.verb, one.noun) for name, one in parsed_names.items()} == {
        name: (verb, (noun,)) for name, verb in NAMES[noun].items()
    }


@pytest.mark.parametrize("about", ["删除一条记录", "Elimina un registro", "Löscht einen Eintrag", "Удаляет запись"])
def test_a_foreign_description_gives_the_verb_of_a_name_without_one(about: str) -> None:
    tools = [
        tool("get_entry", {"entry_id": STRING}, "entry_id"),
        tool("entry", {"entry_id": STRING}, "entry_id", description=about),
    ]
    assert domain(*tools).plans["entry"].verb == "delete"


ROW = obj(id=STRING, 客户名称=STRING, 联系电话=STRING, 单价={"type": "number"}, 颜色=STRING, 订单编号=STRING)
SHOP: list[Json] = [
    tool("创建订单", {"客户名称": STRING, "颜色": STRING}, "客户名称", output=ROW),
    tool("获取订单", {"订单编号": STRING}, "订单编号", output=ROW),
    tool("列出订单", {"数量": INTEGER}, output=obj(rows={"type": "array", "items": ROW})),
    tool("删除订单", {"订单编号": STRING}, "订单编号"),
]


async def test_records_created_by_chinese_tools_are_read_listed_and_deleted() -> None:
    async with Simulator(scenario_of(SHOP)) as simulator, simulator.open("w") as world:

        async def asked(name: str, **arguments: Json) -> Json:
            body = (await world.call(name, arguments)).body
            assert isinstance(body, ToolResult)
            return body.value

        made = await asked("创建订单", 客户名称="王芳", 颜色="红")
        key = made[world.scenario.domain.entities["订单"].key]
        assert (await asked("获取订单", 订单编号=key))["客户名称"] == "王芳"
        assert made in (await asked("列出订单"))["rows"]
        await asked("删除订单", 订单编号=key)
        assert made not in (await asked("列出订单"))["rows"]
