"""Polyphonic characters in sentences: `<character reading>` marks what is checked."""

from __future__ import annotations

import re
from typing import List, Tuple

import pytest

from edge_tts.text.g2p.chinese import ChineseG2P
from edge_tts.text.g2p.pinyin import parse_syllable

# Tones are those of the citation form: the neutral tone counts, sandhi is undone by `same`.
SENTENCES = """
工商银<行 hang2>就在路口
前方进入人<行 xing2>横道
请在非机动车道骑<行 xing2>
这家分<行 hang2>的<行 hang2>长姓王
继续直<行 xing2>三公里
他在旅游<行 hang2>业工作
把第三<行 hang2>的字读一遍
这样做<行 xing2>不<行 xing2>
外<行 hang2>人看不出来
银行<行 hang2>长今天不在
站<长 zhang3>请到二号窗口
这座桥全<长 chang2>三千米
队伍排得很<长 chang2>
孩子<长 zhang3>高了不少
您已驶入<长 chang2>江大桥
头发<长 zhang3>得很快
车<长 chang2>四米八
保质期比较<长 chang2>
正在<重 chong2>新规划路线
行李的<重 zhong4>量超过限制
请<重 chong2>试一次
<重 chong2>庆站到了
这件事非常<重 zhong4>要
双<重 chong2>认证已开启
系统将在三秒后<重 chong2>启
这个箱子太<重 zhong4>了
您还<得 dei3>再等五分钟
电量不足我们<得 dei3>先充电
车开<得 de5>太快了
路上堵<得 de5>厉害
他获<得 de2>了冠军
今天必须<得 dei3>走
跑<得 de5>比我快
你<得 dei3>系好安全带
觉<得 de5>有点冷
这道题算<得 de5>出来吗
车慢慢<地 de5>停了下来
请安静<地 de5>等候
他高兴<地 de5>笑了
目的<地 di4>就在附近
<地 di4>面湿滑请小心
当<地 di4>时间下午三点
门开<着 zhe5>
他终于睡<着 zhao2>了
车辆<着 zhao2>火请远离
请沿<着 zhe5>这条路走
飞机即将<着 zhuo2>陆
别<着 zhao2>急
我看<着 zhe5>地图
已经到<了 le5>
我<了 liao3>解您的需求
这个我受不<了 liao3>
来不<了 liao3>了
油快用完<了 le5>
电池<还 hai2>剩百分之二十
请按时归<还 huan2>车辆
我想<还 huan2>书
前面<还 hai2>有一个服务区
把伞<还 huan2>给他
这里<还 huan2>书吗
所有座位<都 dou1>满了
首<都 du1>机场到了
成<都 du1>站方向
大家<都 dou1>好了吗
<为 wei4>您找到三条路线
目的地已设<为 wei2>公司
速度<为 wei2>六十公里每小时
<为 wei4>什么停车
票价<为 wei2>二十元
<为 wei4>了安全请减速
他被选<为 wei2>队长
认<为 wei2>可以
今天天气很<好 hao3>
小孩子<好 hao4>奇心强
爱<好 hao4>很多
音<乐 yue4>已暂停
祝您旅途快<乐 le4>
正在播放<乐 yue4>曲
请按<数 shu4>字键
我来<数 shu3>一下人数
车辆<数 shu4>据已更新
从一<数 shu3>到十
空<调 tiao2>已打开
正在<调 tiao2>高温度
请在路口<调 diao4>头
把音量<调 tiao2>到最大
座椅已<调 tiao2>节完成
他被<调 diao4>到上海
请到服务<处 chu4>办理
系统正在<处 chu3>理
前方三百米<处 chu4>有学校
好<处 chu4>很多
出<发 fa1>时间是八点
理<发 fa4>店在二楼
头<发 fa5>很短
<发 fa1>动机温度过高
请保持<干 gan1>燥
你在<干 gan4>什么
<干 gan4>部都去开会了
<干 gan1>杯
车里<空 kong1>气不好
还有<空 kong4>位吗
请填<空 kong4>
<空 kong1>车驶来
你什么时候有<空 kong4>
流<量 liang4>已用完
请<量 liang2>一下体温
音<量 liang4>太小
测<量 liang2>距离
请靠<背 bei4>坐好
他<背 bei1>着书包
把单词<背 bei4>下来
请勿<倒 dao4>车
老人摔<倒 dao3>了
<倒 dao4>计时开始
大树被风吹<倒 dao3>
<倒 dao4>车影像已打开
还有五<分 fen1>钟
超出的部<分 fen4>
百<分 fen1>之十
水<分 fen4>充足
这<种 zhong3>情况很少
农民在<种 zhong4>地
我们去<种 zhong4>树
前方左<转 zhuan3>
请向右<转 zhuan3>弯
车轮<转 zhuan4>动
发动机<转 zhuan4>速过高
请<转 zhuan3>入辅路
地球绕太阳<转 zhuan4>
向左<转 zhuan3>后直行
旋<转 zhuan3>木马
请刷<卡 ka3>
鱼刺<卡 qia3>住了
前方有大<卡 ka3>车
温<差 cha1>很大
我出<差 chai1>去北京
还<差 cha4>两公里
<差 cha4>不多到了
参<差 ci1>不齐
一<切 qie4>正常
请<切 qie1>换模式
<切 qie1>蛋糕
亲<切 qie4>的服务
<参 can1>加会议
人<参 shen1>很贵
请<朝 chao2>北走
<朝 zhao1>气蓬勃
<朝 chao2>阳区
<传 chuan2>感器故障
自<传 zhuan4>很有趣
他在<弹 tan2>钢琴
子<弹 dan4>很危险
<弹 tan2>出窗口
<当 dang1>前位置
适<当 dang4>减速
小心上<当 dang4>
气温下<降 jiang4>
宁死不投<降 xiang2>
<角 jiao3>度太大
主<角 jue2>是谁
他<教 jiao1>我开车
<教 jiao4>室在三楼
这棵树<结 jie1>果了
导航<结 jie2>束
请<尽 jin3>快离开
<尽 jin4>力而为
道路<尽 jin4>头
试<卷 juan4>发下来了
把袖子<卷 juan3>起来
飞机降<落 luo4>了
手机<落 la4>在车上了
别<落 la4>下行李
效<率 lü4>很高
他<率 shuai4>领团队
<模 mo2>式已切换
<模 mu2>样很好看
<宁 ning4>可慢一点
南<宁 ning2>站
一<片 pian4>树林
唱<片 pian4>机
<强 qiang2>风预警
勉<强 qiang3>通过
宿<舍 she4>楼
<舍 she3>不得
广东<省 sheng3>
反<省 xing3>自己
节<省 sheng3>时间
<石 shi2>头
一<石 dan4>米
好像<似 shi4>的
<似 si4>乎有雨
住了一<宿 xiu3>
<宿 su4>舍
请<系 ji4>好安全带
<系 xi4>统升级
互<相 xiang1>帮助
真<相 xiang4>大白
<相 xiang4>机没电了
<削 xiao1>苹果
<削 xue1>弱
高<血 xue4>压
流<血 xie3>了
<应 ying1>该减速
反<应 ying4>很慢
<应 ying4>用程序
<与 yu3>前车保持距离
参<与 yu4>活动
下<载 zai4>完成
<载 zai4>重十吨
一年半<载 zai3>
驻<扎 zha1>在这里
包<扎 za1>伤口
<占 zhan1>卜
<占 zhan4>用车道
价格上<涨 zhang3>
头昏脑<涨 zhang4>
一<只 zhi1>猫
<只 zhi3>有一条路
<中 zhong1>国
<中 zhong4>奖了
中<暑 shu3>了
打<中 zhong4>目标
<钻 zuan4>石
<钻 zuan1>研技术
<作 zuo4>业
<作 zuo1>坊
火<车 che1>站
丢<车 ju1>保帅
便<宜 yi5>
<便 pian2>宜的酒店
方<便 bian4>面
六<安 an1>站
<六 lu4>安市
蚌<埠 bu4>
<蚌 beng4>埠
<番 pan1>禺
芝<罘 fu2>
<厦 xia4>门
大<厦 sha4>
请<单 shan4>先生到前台
<曾 zeng1>女士您好
我<曾 ceng2>经来过
<任 ren2>经理在吗
<任 ren4>务完成
<仇 qiu2>老师
<解 xie4>女士
<查 zha1>先生
<查 cha2>询余额
<朴 piao2>女士
<区 ou1>先生
<区 qu1>域
姓<任 ren2>
<藏 cang2>起来
西<藏 zang4>
<散 san4>步
<散 san3>文
请勿打<折 zhe2>
<骨 gu3>头
睡<觉 jiao4>
直<觉 jue2>
<假 jia4>期
<假 jia3>如
请<假 jia4>
处<分 fen4>
供<给 ji3>
<供 gong1>应
心脏<供 gong1>血
灾<难 nan4>
困<难 nan2>
兴<奋 fen4>
高<兴 xing4>
<兴 xing4>趣
钥匙找不<着 zhao2>了
晚上睡不<着 zhao2>
您先不<着 zhao2>急
不<着 zhuo2>边际
一<着 zhao1>不慎
请<还 huan2>我押金
还没<还 huan2>的书
请<还 hai2>要注意安全
中间价<调 tiao2>升
这个周末<调 tiao2>休
味道很<冲 chong4>
他<冲 chong4>着我笑
水<冲 chong1>着车顶
网络已经<铺 pu1>开
这家店<铺 pu4>
我<压 ya4>根没去
气<压 ya1>根本没变
重<重 zhong4>地摔倒
山西<长 chang2>治市
从右侧<数 shu3>第三条车道
座椅朝后<调 tiao2>
把温度<调 tiao2>到二十度
他<调 diao4>到北京工作
他种<了 le5>三<种 zhong3>菜
有人<种 zhong4>了树
各<种 zhong3>花草
干这<行 hang2>的人
他兴奋<地 de5>说
他大声<地 de5>告诉我
当<地 di4>说法
在工<地 di4>上走
按辈<分 fen4>称呼
昆明<长 chang2>水机场
辽宁<朝 chao2>阳市
下一站是<朝 chao2>阳门
迎着<朝 zhao1>阳出发
上海闵<行 hang2>区
下一站是十里<堡 pu4>
山西洪<洞 tong2>县
成都郫<都 du1>区
我<会 hui4>计算
公司的<会 kuai4>计
他们中<将 jiang1>有一位
巴<塞 sai4>罗那
东<西 xi1>方向
买东<西 xi5>
列车<得 dei3>到站才开门
账单日<为 wei2>每月五日
号码<为 wei4>您保留
""".strip()

_MARK = re.compile(r"<(.) ([a-zü]+[1-5])>")


def _case(line: str) -> Tuple[str, List[Tuple[int, str]]]:
    text, targets = "", []
    for piece in re.split(r"(<.*?>)", line):
        mark = _MARK.fullmatch(piece)
        if mark:
            targets.append((len(text), mark.group(2)))
        text += mark.group(1) if mark else piece
    return text, targets


def _same(expected: str, text: str, position: int, read: str) -> bool:
    """Equal, or equal before third-tone sandhi raised it."""
    return read == expected or (expected.endswith("3") and read == expected[:-1] + "2")


@pytest.fixture(scope="module")
def g2p() -> ChineseG2P:
    return ChineseG2P()


@pytest.mark.parametrize("line", SENTENCES.splitlines())
def test_polyphone_is_read_by_its_context(g2p: ChineseG2P, line: str) -> None:
    text, targets = _case(line)
    assert targets
    _, syllables = g2p.read(text)
    for position, expected in targets:
        syllable = syllables[position]
        assert syllable is not None
        assert parse_syllable(expected)
        read = f"{syllable.base}{syllable.tone}"
        assert _same(expected, text, position, read), f"{text[position]} read {read}"
