"""Kinds of writing met in announcements, cars and kiosks, beyond the basic ones."""

from __future__ import annotations

import pytest

from edge_tts.text.normalise import normalise
from edge_tts.text.spoken import spoken_text

ROWS = {
    "minutes said twice": ("现在是8:08分", "现在是八点零八分"),
    "timestamp": (
        "at 2026-11-30T22:54:01Z",
        "at November thirtieth twenty twenty six, twenty two fifty four and one second U T C",
    ),
    "timestamp in Chinese": (
        "时间2026-11-30T22:54",
        "时间二零二六年十一月三十日, 二十二点五十四分",
    ),
    "power": ("10^3 and 2^10", "ten cubed and two to the power of ten"),
    "power in Chinese": ("10^3等于1000", "十的三次方等于一千"),
    "negative power": ("10^-6 m", "ten to the power of minus six M"),
    "gate": ("请到#5登机口", "请到五号登机口"),
    "keys": ("请输入*号键或按#5", "请输入星号键或按井号五"),
    "keys in English": ("Press # or * now", "Press pound or star now"),
    "product, not a key": ("3*4=12", "three times four equals twelve"),
    "lap time": ("in 1:02:03.5", "in one hour two minutes three point five seconds"),
    "lap time in Chinese": ("成绩1:02.5", "成绩一分二点五秒"),
    "no hours": ("Elapsed time 00:45:12", "Elapsed time forty five minutes twelve seconds"),
    "post box": ("P.O. Box 1234", "P O Box twelve thirty four"),
    "house number": ("at 1600 Amphitheatre Pkwy", "at sixteen hundred Amphitheatre parkway"),
    "bare year": ("在2024建成，在2024米处", "在二零二四建成, 在两千零二十四米处"),
    "year of a model": ("2024款，2022冬奥会", "二零二四款, 二零二二冬奥会"),
    "generation": ("80后和00后，80后退", "八零后和零零后, 八十后退"),
    "brand": ("CarPlay, WeChat, YouTube", "CarPlay, WeChat, YouTube"),
    "brand with an acronym": ("ChatGPT", "Chat G P T"),
    "compounds": ("check-in, turn-by-turn, e-mails", "check-in, turn-by-turn, e-mails"),
    "letter in a compound": ("U-turn, Type-C", "U turn, Type C"),
    "single quotes": ("'Don't stop', he said", "“Don't stop”, he said"),
    "apostrophes": ("'Twas the dogs' bowl", "Twas the dogs' bowl"),
    "Spanish marks": ("¿Qué? ¡Hola!", "Qué? Hola!"),
    "feet and inches": (
        "6'2\" and 14 ft 6 in.",
        "six feet two inches and fourteen feet six inches.",
    ),
    "inches of rain": ("0.5 in of rain in 5 in", "zero point five inches of rain in five in"),
    "spoons": ("2 tbsp, 1 tsp", "two tablespoons, one teaspoon"),
    "opening hours": ("Open 9-5", "Open nine to five"),
    "rating": ("Rated 4.5/5 by us", "Rated four point five out of five by us"),
    "titles": ("Mr. and Mrs. Lee", "mister and missus Lee"),
    "featuring": ("Rihanna feat. Drake", "Rihanna featuring Drake"),
    "compass at the end": ("Stay on CA-85 N.", "Stay on C A eighty five north."),
    "lettered train": ("Take the A train to 5th", "Take the A train to fifth"),
    "article before a number": ("A 5-star hotel", "a five star hotel"),
    "letter before or": ("A or B", "A or B"),
    "title case": ("Once Upon A Time", "Once Upon a Time"),
    "dotted phone": ("Call 212.555.0187", "Call two one two, five five five, oh one eight seven"),
    "area code": ("电话(021) 6888-1234", "电话零二幺, 六八八八, 幺二三四"),
    "hotline": ("10086为您服务", "幺零零八六为您服务"),
    "hotline digits that count": ("95588元", "九万五千五百八十八元"),
    "currency said twice": ("支付￥1,299.00元", "支付一千二百九十九元"),
    "Chinese rate": ("车速80公里/小时", "车速八十公里每小时"),
    "subtraction": ("10-2=8，2-1=1", "十减二等于八, 二减一等于一"),
    "days": ("5月1日-7日放假", "五月一日到七日放假"),
    "range below zero": ("-3到5摄氏度", "零下三到五摄氏度"),
    "Chinese ruler": ("亨利VIII和最终幻想VII", "亨利八世和最终幻想七"),
    "number that begins others": ("138开头的来电", "一三八开头的来电"),
    "consulting room": ("到302诊室", "到三零二诊室"),
    "year as a title": ("专辑《1989》", "专辑“一九八九”"),
    "units without words": ("-5℃，8mm。", "零下五摄氏度, 八毫米."),
    "dotted letters": ("A.B.C三个选项", "A B C 三个选项"),
    "dates by their time": ("11/30 at 6:00 PM", "November thirtieth at six P M"),
    "dose": ("5 mg/kg", "five milligrams per kilogram"),
    "rent": ("$20/mo", "twenty dollars per month"),
    "reference": ("Order #A12", "Order number A twelve"),
    "war": ("World War I ended", "World War one ended"),
    "range of inches": ("3-5 in. of snow", "three to five inches of snow"),
    "junior's street": ("Luther King Jr. Blvd.", "Luther King junior boulevard."),
    "numbered highway": ("Highway 101 N at", "Highway one oh one north at"),
    "ten thousand": ("10,000 or 10,000,000", "ten thousand or ten million"),
    "ten thousand in Chinese": ("一共10,000人", "一共一万人"),
}


@pytest.mark.parametrize("kind", ROWS)
def test_reading(kind):
    written, spoken = ROWS[kind]
    assert spoken_text(normalise(written)) == spoken
