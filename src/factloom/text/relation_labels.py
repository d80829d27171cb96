"""Relations in the words of other languages than English, after the labels of Wikidata.

>>> relation_labels("zh")["P19"]
'出生地'

The table holds every relation of `factloom.text.relation_names`. It was written by hand after
Wikidata's labels in simplified characters, which change from time to time.
"""

from collections.abc import Mapping
from types import MappingProxyType

from factloom.text.relation_names import RELATION_NAMES

_CHINESE = """
P6 政府首脑 | P17 国家 | P19 出生地 | P20 死亡地 | P22 父亲
P25 母亲 | P26 配偶 | P27 国籍 | P30 所属洲 | P31 隶属于
P35 国家元首 | P36 首都 | P37 官方语言 | P39 担任职务 | P40 子女
P50 作者 | P54 效力运动队 | P57 导演 | P58 编剧 | P69 就读于
P86 作曲者 | P102 所属政党 | P108 雇主 | P112 创办者 | P118 所属联赛
P123 出版者 | P127 拥有者 | P131 所在行政领土实体 | P136 类型 | P137 运营者
P140 宗教信仰 | P150 下级行政领土实体 | P155 前一项 | P156 后一项 | P159 总部位置
P161 演员 | P162 制片人 | P166 所获奖项 | P170 创作者 | P171 父级分类单元
P172 族群 | P175 表演者 | P176 制造商 | P178 开发者 | P179 所属系列
P190 友好城市 | P194 立法机构 | P205 流域国家 | P206 所临水域 | P241 军种
P264 唱片公司 | P272 制作公司 | P276 所在位置 | P279 上级分类 | P355 子公司
P361 从属于 | P364 作品原始语言 | P400 平台 | P403 河口 | P449 首播平台
P463 所属组织 | P488 主席 | P495 原产地 | P527 可分为 | P551 居住地
P569 出生日期 | P570 死亡日期 | P571 成立或创建时间 | P576 解散或拆除时间 | P577 出版日期
P580 始于 | P582 终于 | P585 时间点 | P607 参与战争 | P674 登场角色
P676 作词者 | P706 所在地形 | P710 参与者 | P737 受影响于 | P740 成立地点
P749 母公司 | P800 代表作 | P807 分离自 | P840 叙述地点 | P937 工作地
P1001 适用辖区 | P1056 产品 | P1198 失业率 | P1336 领土主张者 | P1344 参与事件
P1365 取代 | P1366 被取代为 | P1376 作为首都的领土实体 | P1412 掌握语言 | P1441 登场作品
P3373 兄弟姐妹 | P169 首席执行官 | P3320 董事会成员 | P1037 主管 | P1951 投资者
P859 赞助者 | P2652 合作伙伴 | P1128 雇员数 | P2139 总收入 | P414 证券交易所
P7888 并入
"""


def _table(text: str) -> Mapping[str, str]:
    rows = (row for line in text.strip().splitlines() for row in line.split("|"))
    pairs = (row.strip().partition(" ") for row in rows)
    return MappingProxyType({identifier: label for identifier, _, label in pairs})


_LABELS = {"en": RELATION_NAMES, "zh": _table(_CHINESE)}


def relation_labels(language: str) -> Mapping[str, str]:
    """The relations in words of a language, "en" or "zh", by their ids."""
    return _LABELS[language]
