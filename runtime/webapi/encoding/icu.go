package encoding

// icuRules are what ICU's converter of an encoding makes of the beginning of a stream,
// data, which by the standard is s. workerd decodes with ICU before
// text_decoder_cjk_decoder, and by the standard from then on. Measured with workerd
// 1.20261117 over all sequences of up to two bytes, of three in EUC-JP and of four in
// GB 18030. Malformed ISO-2022-JP is decoded by the standard always.
type icuRules func(data []byte, s sequence) sequence

// icu are the rules by the names of encodings. Where an error ends is what differs
// mostly: ICU reads a byte again that begins a character.
var icu = map[string]icuRules{"big5": icuBig5, "euc-jp": icuEUCJP, "gbk": icuGB, "gb18030": icuGB, "shift_jis": icuShiftJIS}

func icuBig5(data []byte, s sequence) sequence {
	if within(data[0], 0x81, 0x86) || s.kind == sequenceBad && s.size == 2 && within(data[1], 0x87, 0xA0) {
		return badByte
	}
	return s
}

func icuEUCJP(data []byte, s sequence) sequence {
	if s.kind != sequenceBad || len(data) < 2 {
		return s
	}
	lead, second := data[0], data[1]
	switch {
	case second == 0x8E || second == 0x8F, lead == 0x8E && within(second, 0xE0, 0xFE),
		lead == 0x8F && len(data) > 2 && within(second, 0xA1, 0xFE) && !within(data[2], 0xA1, 0xFE):
		return badByte
	}
	return s
}

func icuShiftJIS(data []byte, s sequence) sequence {
	if len(data) < 2 {
		return s
	}
	switch lead, second := data[0], data[1]; {
	case lead == 0xF9 && within(second, 0x40, 0x7E):
		return badByte
	case lead == 0xF9 && within(second, 0x80, 0xFC), lead == 0x87 && second == 0x5E:
		return sequence{size: 2, kind: sequenceBad}
	}
	return s
}

// gb2005 are the characters for private use that GB 18030 had for 18 pairs before 2022.
var gb2005 = map[rune]rune{
	0xFE10: 0xE78D, 0xFE12: 0xE78E, 0xFE11: 0xE78F, 0xFE13: 0xE790, 0xFE14: 0xE791, 0xFE15: 0xE792,
	0xFE16: 0xE793, 0xFE17: 0xE794, 0xFE18: 0xE795, 0xFE19: 0xE796, 0x9FB4: 0xE81E, 0x9FB5: 0xE826,
	0x9FB6: 0xE82B, 0x9FB7: 0xE82C, 0x9FB8: 0xE832, 0x9FB9: 0xE843, 0x9FBA: 0xE854, 0x9FBB: 0xE864,
}

func icuGB(data []byte, s sequence) sequence {
	if data[0] == 0x80 { // "€" in GBK of the standard
		return badByte
	}
	if r, ok := gb2005[s.r]; ok && s.kind == sequenceChar && s.size == 2 {
		s.r = r
	}
	return s
}
