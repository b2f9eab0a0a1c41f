"""SHA-256 (FIPS 180-4), since React Native has none. Numbers are JavaScript's: operators on bits give 32 of them."""

__pragma__('skip')
from browser import __pragma__, Math, Uint8Array, __new__

__pragma__('noskip')

WORD = 4294967296  # 2 to the 32nd
BLOCK_BYTES = 64
ROUNDS = 64
LENGTH_BYTES = 8  # at the end of the last block
state_at_start = []  # the first 32 bits of the fractions of the square roots of the first 8 primes
round_constants = []  # likewise of the cube roots of the first 64 primes


def fill_constants():
    number = 2
    while round_constants.length < ROUNDS:
        if is_prime(number):
            if state_at_start.length < 8:
                state_at_start.push(fraction_bits(Math.pow(number, 1 / 2)))
            round_constants.push(fraction_bits(Math.pow(number, 1 / 3)))
        number += 1


def is_prime(number):
    divisor = 2
    while divisor * divisor <= number:
        if Math.floor(number / divisor) * divisor == number:
            return False
        divisor += 1
    return True


def fraction_bits(number):
    return ((number - Math.floor(number)) * WORD) | 0


def shifted(word, bits):
    """The word moved to the right, with zeros on its left."""
    return (word >> bits) & ((1 << (32 - bits)) - 1)


def rotated(word, bits):
    return shifted(word, bits) | (word << (32 - bits))


def sha256(bytes):
    """The 32 bytes of the hash of these bytes."""
    blocks = padded(bytes)
    state = state_at_start.slice()
    start = 0
    while start < blocks.length:
        add_block(state, schedule_of(blocks, start))
        start += BLOCK_BYTES
    digest = []
    for word in state:
        digest.push(shifted(word, 24), (word >> 16) & 255, (word >> 8) & 255, word & 255)
    return __new__(Uint8Array(digest))


def padded(bytes):
    """The bytes, a one bit, zeros, and the number of bits, as whole blocks."""
    blocks = []
    for byte in bytes:
        blocks.push(byte)
    blocks.push(128)
    while (blocks.length + LENGTH_BYTES) & (BLOCK_BYTES - 1):
        blocks.push(0)
    bits = bytes.length * 8
    blocks.push(0, 0, 0, 0, shifted(bits, 24), (bits >> 16) & 255, (bits >> 8) & 255, bits & 255)
    return blocks


def schedule_of(blocks, start):
    """The 64 words that a block gives."""
    words = []
    place = start
    while words.length < 16:
        words.push((blocks[place] << 24) | (blocks[place + 1] << 16) | (blocks[place + 2] << 8) | blocks[place + 3])
        place += 4
    while words.length < ROUNDS:
        count = words.length
        early = words[count - 15]
        late = words[count - 2]
        early_mix = rotated(early, 7) ^ rotated(early, 18) ^ shifted(early, 3)
        late_mix = rotated(late, 17) ^ rotated(late, 19) ^ shifted(late, 10)
        words.push((words[count - 16] + early_mix + words[count - 7] + late_mix) | 0)
    return words


def add_block(state, words):
    """Work a block into the state; a to h are the working variables' names in the standard."""
    [a, b, c, d, e, f, g, h] = state
    count = 0
    while count < ROUNDS:
        e_mix = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
        choice = (e & f) ^ (~e & g)
        first = (h + e_mix + choice + round_constants[count] + words[count]) | 0
        a_mix = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
        majority = (a & b) ^ (a & c) ^ (b & c)
        h = g
        g = f
        f = e
        e = (d + first) | 0
        d = c
        c = b
        b = a
        a = (first + a_mix + majority) | 0
        count += 1

    def add_word(word, place):
        state[place] = (state[place] + word) | 0

    [a, b, c, d, e, f, g, h].forEach(add_word)


fill_constants()
