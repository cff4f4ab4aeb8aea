"""English words for those of other languages: verbs in names of tools, nouns in names of fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from mcp_sim.types.lexicon.english import last_word, vocabulary


def _table(text: str) -> dict[str, str]:
    """Read lines `create: crear criar`: map each of those words to the English one; `_` joins the words of a phrase."""
    lines = (line.split(":") for line in text.strip().splitlines())
    return {word: english for english, others in lines for word in others.split()}


_SPACED = _table("""
create: crear crea criar cria créer creer crée cree erstellen erstelle erstellt anlegen создать создает создаёт
create: إنشاء أنشئ ينشئ
add: agregar agrega añadir anadir añade adicionar adiciona ajouter ajoute hinzufügen hinzufuegen добавить
add: добавляет إضافة أضف يضيف
register: registrar registra enregistrer enregistre registrieren registriert зарегистрировать تسجيل
get: obtener obtiene consultar consulta obter obtém obtem obtenir obtient récupérer recuperer récupère recupere
get: abrufen holen получить получает الحصول احصل جلب يجلب
show: mostrar muestra mostra ver exibir afficher affiche anzeigen zeigen zeige zeigt показать показывает عرض
show: يعرض
read: leer lee ler lire lesen liest прочитать читать قراءة
list: listar lista lister liste listes auflisten список перечислить قائمة سرد
search: buscar busca pesquisar pesquisa procurar rechercher recherche chercher suchen suche sucht поиск искать
search: ищет بحث البحث ابحث يبحث
find: encontrar encuentra trouver trouve finden finde findet найти находит
update: actualizar actualiza atualizar atualiza mettre_à_jour mettre_a_jour aktualisieren aktualisiere
update: aktualisiert обновить обновляет تحديث يحدث
change: cambiar cambia alterar altera changer ändern aendern ändere ändert изменить изменяет تغيير
edit: editar edita éditer bearbeiten bearbeite bearbeitet редактировать تعديل
modify: modificar modifica modifier modifie
delete: eliminar elimina borrar borra excluir exclui apagar apaga deletar supprimer supprime effacer löschen
delete: loeschen lösche löscht удалить удаляет حذف يحذف احذف
remove: quitar quita remover retirer entfernen entferne entfernt убрать إزالة
cancel: cancelar cancela annuler annule stornieren storniere storniert abbrechen отменить отменяет إلغاء يلغي
close: cerrar cierra fechar fecha fermer ferme schließen schliessen schließt закрыть закрывает إغلاق
complete: completar completa concluir conclui terminer termine abschließen abschliessen завершить завершает
complete: إكمال
send: enviar envía envia envoyer envoie senden sende sendet отправить отправляет إرسال
save: guardar guarda salvar salva sauvegarder speichern speichere сохранить حفظ
""")
_UNSPACED = _table("""
create: 创建 新建 建立 創建 生成 作成 생성 만들기
add: 新增 添加 增加 追加 추가
register: 注册 登记 登録 등록
get: 获取 獲取 取得 查看 获得 조회 가져오기
show: 显示 顯示 表示 보기
read: 读取 讀取
list: 列出 列表 清单 一覧 목록
search: 搜索 搜尋 查询 查詢 检索 検索 검색
find: 查找 찾기
update: 更新 업데이트
edit: 编辑 編輯 編集
change: 变更 変更 변경
modify: 修改 수정
delete: 删除 刪除 削除 삭제
remove: 移除 제거
cancel: 取消 キャンセル 취소
close: 关闭 關閉 닫기
complete: 完成 完了 완료
send: 发送 發送 送信 전송 보내기
save: 保存 저장
""")
_SMALL = vocabulary(
    "un una unos unas el la los las de del um uma o os a as do da dos das le les l une des du d der die das den dem "
    "ein eine einen einer на по все всех على جميع كل من todos todas todo tous toutes tout alle"
)
_MANY, _GETS = frozenset({"list", "search", "find"}), frozenset({"get", "show", "read"})
_PARTICLES = re.compile(r"^(?:一个|一個|所有|全部|的)+|(?:的|を|을|를)+$")
_SPLIT = re.compile(rf"^(?:{'|'.join(sorted(_UNSPACED, key=len, reverse=True))})|(?:{'|'.join(_UNSPACED)})$")

_NOUNS = _table("""
name: 名称 姓名 名字 名前 氏名 이름 nombre nome nom имя название اسم الاسم
title: 标题 標題 タイトル 件名 제목 título titulo titre titel заголовок عنوان
description: 描述 说明 說明 説明 설명 descripción descripcion descrição descricao beschreibung описание وصف الوصف
email: 邮箱 电子邮件 邮件 メール 이메일 correo correo_electrónico courriel почта البريد
phone: 电话 手机 手机号 電話 電話番号 전화 전화번호
phone: teléfono telefono telefone téléphone telephone telefon телефон هاتف الهاتف
address: 地址 住所 주소 dirección direccion endereço endereco adresse адрес العنوان
city: 城市 都市 市 도시 ciudad cidade ville stadt ort город مدينة المدينة
country: 国家 國家 国 국가 país pais pays страна بلد الدولة
company: 公司 会社 회사 empresa entreprise firma компания شركة الشركة
price: 价格 單價 单价 価格 가격 precio preço preco prix preis цена سعر السعر
amount: 金额 金額 금액 importe monto valor montant betrag сумма مبلغ المبلغ
quantity: 数量 數量 수량 cantidad quantidade quantité quantite menge anzahl количество كمية الكمية
category: 类别 分类 カテゴリ 카테고리 categoría categoria catégorie categorie kategorie категория فئة الفئة
notes: 备注 備考 메모 notas notizen примечание ملاحظات
number: 编号 編號 号码 番号 번호 numero numéro número nummer номер رقم
date: 日期 日付 날짜 fecha datum дата تاريخ التاريخ
status: 状态 狀態 状態 상태 estado statut статус حالة الحالة
customer: 客户 客戶 顧客 고객 cliente kunde клиент عميل العميل
user: 用户 用戶 ユーザー 사용자 usuario usuário utilisateur benutzer пользователь مستخدم المستخدم
employee: 员工 員工 社員 직원 empleado empregado mitarbeiter сотрудник موظف
product: 产品 產品 商品 製品 상품 제품 producto produto produit produkt товар منتج المنتج
order: 订单 訂單 注文 주문 pedido commande bestellung заказ طلب الطلب
task: 任务 任務 タスク 작업 tarea tarefa tâche aufgabe задача مهمة المهمة
invoice: 发票 發票 請求書 송장 factura fatura facture rechnung счёт فاتورة
""")
"""Names of fields and things -> the English name with the same meaning."""


def in_english(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a tool's name with its verb in English and first, if it is in another language."""
    parts = tuple(_apart(parts))
    for size in (3, 1):
        head, tail = "_".join(parts[:size]), "_".join(parts[-size:])
        if len(parts) >= size and head in _SPACED:
            return _with_verb(_SPACED[head], parts[size:])
        if len(parts) > size and tail in _SPACED and (tail.endswith("n") or not tail.isascii()):
            return _with_verb(_SPACED[tail], parts[:-size])
    return parts


def _with_verb(verb: str, rest: tuple[str, ...]) -> tuple[str, ...]:
    """Return the verb and its noun. Getting a list of things is listing them."""
    noun = tuple(word for word in rest if word not in _SMALL)
    is_list = len(noun) > 1 and _SPACED.get(noun[0]) == "list"
    return ("list", *noun[1:]) if is_list else (verb, *noun)


def _apart(parts: tuple[str, ...]) -> Iterator[str]:
    """Yield the words, those written without spaces taken apart: `创建订单` is to create a `订单`."""
    verbs = [_UNSPACED[verb] for word in parts for verb in _SPLIT.findall(word)]
    if not verbs:
        yield from parts
        return
    yield "list" if "list" in verbs else verbs[0]
    yield from (left for word in parts if (left := _PARTICLES.sub("", _SPLIT.sub("", word))))


def one_noun_each(names: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the names with nouns that differ only in their ending, such as singular and plural, made the same.

    The noun is that of the tools that write single records; tools that get the other one list them.
    """
    ones = sorted({parts[1:] for parts in names.values() if parts[0] not in _MANY | _GETS and len(parts) > 1})
    return {name: _of_one(parts, ones) for name, parts in names.items()}


def _of_one(parts: tuple[str, ...], ones: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    noun = parts[1:]
    known = next((one for one in ones if one[:-1] == noun[:-1] and _is_alike(one[-1], noun[-1])), noun) if noun else ()
    if noun in ones or known == noun:
        return parts
    return ("list" if parts[0] in _GETS else parts[0], *known)


def _is_alike(one: str, other: str) -> bool:
    stem = max(3, len(one) - 1)
    return one[:stem] == other[:stem] and max(len(one), len(other)) - stem <= 3


@lru_cache(maxsize=4096)
def noun_in_english(name: str) -> str:
    """Return the English name of a field or thing in another language; the name itself if it is unknown."""
    known = _NOUNS.get(name) or _NOUNS.get(last_word(name))
    if known is not None or name.isascii():
        return known or name
    ending = max((end for end in _NOUNS if len(end) > 1 and name.endswith(end)), key=len, default=None)
    if ending is None:
        return name
    whose = name.removesuffix(ending).strip("_的")
    return f"{_NOUNS.get(whose, whose)}_{_NOUNS[ending]}"


def verb_in_english(word: str) -> str | None:
    """Return the English verb that a word is, or begins with; None if there is none."""
    found = None if word.isascii() else _SPLIT.match(word)
    return _SPACED.get(word) or (_UNSPACED[found[0]] if found is not None else None)
