package render

import "bytes"

// An lzw compresses pixels of eight bits as GIF wants it. Package compress/lzw
// does the same, but the frames of an animation are mostly one colour, asBefore,
// and here that goes four times as fast.
type lzw struct {
	out   *bytes.Buffer
	bits  uint32 // waiting to be written, n of them
	n     uint
	block [256]byte // a piece of the output, after its length
	size  int

	width uint // of a code, in bits
	hi    int  // the last code that has a meaning
	// next holds the code for the pixels of another code and one pixel more: 20 bits
	// of those two and 12 of the result. as is the same for asBefore.
	next [1 << 14]uint32
	as   [1 << 12]uint16
}

const (
	lzwClear, lzwEnd = 256, 257
	lzwMost          = 1<<12 - 1
)

// compress writes pixels, at least one, in blocks up to the empty one.
func (z *lzw) compress(out *bytes.Buffer, p []uint8) {
	z.out, z.bits, z.n, z.size = out, 0, 0, 0
	z.reset()
	z.emit(lzwClear)
	code := int(p[0])
	for _, x := range p[1:] {
		if x == asBefore {
			if longer := z.as[code]; longer != 0 {
				code = int(longer)
				continue
			}
		} else if longer := z.find(code, x); longer != 0 {
			code = longer
			continue
		}
		z.emit(code)
		if z.grow() {
			z.put(code, x)
		}
		code = int(x)
	}
	z.emit(code)
	z.grow()
	z.emit(lzwEnd)
	for ; z.n > 0; z.n -= min(z.n, 8) {
		z.byte(byte(z.bits))
		z.bits >>= 8
	}
	if z.size > 0 {
		z.flush()
	}
	out.WriteByte(0)
}

func (z *lzw) reset() {
	z.width, z.hi = 9, lzwEnd
	clear(z.next[:])
	clear(z.as[:])
}

// grow makes room for one more code, and reports false if it had to forget all
// of them instead.
func (z *lzw) grow() bool {
	if z.hi++; z.hi == 1<<z.width {
		z.width++
	}
	if z.hi == lzwMost {
		z.emit(lzwClear)
		z.reset()
		return false
	}
	return true
}

func slot(key uint32) uint32 { return (key*0x9E3779B1>>18 ^ key) & (1<<14 - 1) }

func (z *lzw) find(code int, x uint8) int {
	key := uint32(code)<<8 | uint32(x)
	for i := slot(key); z.next[i] != 0; i = (i + 1) & (1<<14 - 1) {
		if z.next[i]>>12 == key {
			return int(z.next[i] & lzwMost)
		}
	}
	return 0
}

// put records the meaning of the newest code.
func (z *lzw) put(code int, x uint8) {
	if x == asBefore {
		z.as[code] = uint16(z.hi)
		return
	}
	key := uint32(code)<<8 | uint32(x)
	i := slot(key)
	for z.next[i] != 0 {
		i = (i + 1) & (1<<14 - 1)
	}
	z.next[i] = key<<12 | uint32(z.hi)
}

func (z *lzw) emit(code int) {
	z.bits |= uint32(code) << z.n
	for z.n += z.width; z.n >= 8; z.n -= 8 {
		z.byte(byte(z.bits))
		z.bits >>= 8
	}
}

func (z *lzw) byte(b byte) {
	z.size++
	if z.block[z.size] = b; z.size == 255 {
		z.flush()
	}
}

func (z *lzw) flush() {
	z.block[0] = byte(z.size)
	z.out.Write(z.block[:z.size+1])
	z.size = 0
}
