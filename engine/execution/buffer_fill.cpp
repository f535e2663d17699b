#include "engine/execution/buffer_fill.h"

#include "analysis/syntax/short_floats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace kernelskill::engine {

using analysis::ScalarKind;

namespace {

/// The finaliser of SplitMix64: consecutive indices give unrelated values.
std::uint64_t mix(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15ull;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
}

std::uint16_t halfBits(float value) {
    const _Float16 half = static_cast<_Float16>(value);
    return std::bit_cast<std::uint16_t>(half);
}

std::uint16_t bfloat16Bits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

/// Uniform in [-1, 1), with 23 bits so that float and double hold the same value.
inline float randomFloat(std::uint64_t seed, std::uint64_t index) {
    const auto bits = static_cast<std::int32_t>(mix(seed ^ mix(index)) >> 41);
    return static_cast<float>(bits - (1 << 22)) * (1.0f / (1 << 22));
}

std::int64_t maxValue(ScalarKind kind) {
    switch (kind) {
    case ScalarKind::Bool:
        return 1;
    case ScalarKind::Char:
        return 127;
    default:
        return 255;
    }
}

std::uint64_t elementHash(std::uint64_t seed, std::uint64_t index) {
    return mix(seed ^ mix(index));
}

/// A number of [0, 1) from the lower half of a hash. The upper half stays for another number.
double part(std::uint64_t hash) {
    return static_cast<double>(hash & 0xffffffffu) * 0x1p-32;
}

/// The given value of this element; nullptr if it has a random one.
const double* chosenValue(const ValueChoice& choice, std::uint64_t hash) {
    if (choice.values.empty() || part(hash) >= choice.share)
        return nullptr;
    return &choice.values[(hash >> 32) % choice.values.size()];
}

/// A number with random sign, exponent and mantissa. A second hash gives 52 bits of mantissa.
double wideValue(const ValueChoice& choice, std::uint64_t hash) {
    const std::uint64_t bits = mix(hash);
    const auto exponents =
        static_cast<std::uint64_t>(std::max(choice.maxExponent - choice.minExponent, 1));
    const int exponent = choice.minExponent + static_cast<int>((hash >> 33) % exponents);
    const double mantissa = 1.0 + static_cast<double>(bits >> 12) * 0x1p-52;
    const double magnitude = std::ldexp(mantissa, exponent);
    return (hash >> 32 & 1u) != 0 ? -magnitude : magnitude;
}

double chosenFloating(const ValueChoice& choice, std::uint64_t seed, std::uint64_t index) {
    const std::uint64_t hash = elementHash(seed, index);
    const double* given = chosenValue(choice, hash);
    const double value = given != nullptr ? *given : wideValue(choice, hash);
    return choice.isFloat ? static_cast<double>(static_cast<float>(value)) : value;
}

std::int64_t chosenInteger(const BufferSpec& buffer, std::uint64_t seed, std::uint64_t index) {
    const std::uint64_t hash = elementHash(seed, index);
    const double* given = chosenValue(*buffer.choice, hash);
    constexpr double limit = 0x1p63;
    if (given != nullptr && std::trunc(*given) == *given && *given >= -limit && *given < limit) {
        const auto value = static_cast<std::int64_t>(*given);
        if (buffer.integerRange == 0 || (value >= 0 && value < buffer.integerRange))
            return value;
    }
    return static_cast<std::int64_t>((mix(hash) >> 1) %
                                     static_cast<std::uint64_t>(randomRange(buffer)));
}

/// The number of type `kind` that is next to `value`.
double rounded(ScalarKind kind, float value) {
    switch (kind) {
    case ScalarKind::Half:
        return analysis::halfValue(halfBits(value));
    case ScalarKind::BFloat16:
        return analysis::bfloatValue(bfloat16Bits(value));
    default:
        return value;
    }
}

float floatingValue(const BufferSpec& buffer, std::uint64_t seed, std::uint64_t index) {
    switch (buffer.fill) {
    case Fill::Random:
        return randomFloat(seed, index);
    case Fill::Chosen:
        return static_cast<float>(chosenFloating(*buffer.choice, seed, index));
    case Fill::Constant:
        return static_cast<float>(buffer.value);
    case Fill::Iota:
        return static_cast<float>(static_cast<double>(index) * (1 + buffer.value));
    default:
        return 0;
    }
}

std::int64_t integerValue(const BufferSpec& buffer, std::uint64_t seed, std::uint64_t index) {
    switch (buffer.fill) {
    case Fill::Random:
        return static_cast<std::int64_t>((elementHash(seed, index) >> 1) %
                                         static_cast<std::uint64_t>(randomRange(buffer)));
    case Fill::Chosen:
        return chosenInteger(buffer, seed, index);
    case Fill::Constant:
        return static_cast<std::int64_t>(buffer.value);
    case Fill::Iota:
        return static_cast<std::int64_t>(index) * (1 + static_cast<std::int64_t>(buffer.value));
    default:
        return 0;
    }
}

template <typename T, typename Value>
void fillWith(std::uint64_t offset, std::span<std::byte> bytes, Value value) {
    std::uint64_t index = offset / sizeof(T);
    std::size_t at = 0;
    for (; at + sizeof(T) <= bytes.size(); at += sizeof(T), ++index) {
        const T element = value(index);
        std::memcpy(bytes.data() + at, &element, sizeof(T));
    }
    if (at < bytes.size()) {
        const T element = value(index);
        std::memcpy(bytes.data() + at, &element, bytes.size() - at);
    }
}

constexpr std::int64_t fieldRange = 16;

template <typename T>
std::uint64_t bitsOf(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

/// The field's bytes, the lowest first: random integers, and floats that the choice makes.
std::uint64_t fieldBits(const KsField& field, const BufferSpec& buffer, std::int64_t range,
                        std::uint64_t seed, std::uint64_t index) {
    const double floating = buffer.fill == Fill::Chosen
                                ? chosenFloating(*buffer.choice, seed, index)
                                : 0.5f * (randomFloat(seed, index) + 1.0f);
    switch (field.element) {
    case KsElementHalf:
        return halfBits(static_cast<float>(floating));
    case KsElementBFloat16:
        return bfloat16Bits(static_cast<float>(floating));
    case KsElementFloating:
        return field.bytes == 8 ? bitsOf(floating) : bitsOf(static_cast<float>(floating));
    default:
        return (mix(seed ^ mix(index)) >> 1) %
               static_cast<std::uint64_t>(field.bytes == 1 ? 2 : range);
    }
}

} // namespace

void fillFields(std::span<const KsField> fields, const BufferSpec& buffer, std::uint64_t seed,
                std::uint64_t offset, std::span<std::byte> bytes) {
    const std::uint64_t stride = buffer.elementBytes;
    const std::int64_t range = buffer.integerRange > 0 ? buffer.integerRange : fieldRange;
    const std::uint64_t end = offset + bytes.size();
    for (std::uint64_t element = offset / stride; element * stride < end; ++element) {
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const KsField& field = fields[i];
            if (field.element == KsElementOther || field.element == KsElementPointer ||
                field.bytes > sizeof(std::uint64_t))
                continue;
            const std::uint64_t bits =
                fieldBits(field, buffer, range, seed, element * fields.size() + i);
            const std::uint64_t first = element * stride + field.offset;
            for (std::uint64_t at = std::max(first, offset);
                 at < std::min(first + field.bytes, end); ++at)
                bytes[at - offset] = static_cast<std::byte>(bits >> (8 * (at - first)));
        }
    }
}

std::int64_t randomRange(const BufferSpec& buffer) {
    return buffer.integerRange > 0 ? buffer.integerRange : maxValue(buffer.element) + 1;
}

std::uint64_t bufferSeed(std::uint64_t seed, std::string_view name) {
    // FNV-1a, because the emulator and the runner have to compute the same.
    constexpr std::uint64_t prime = 0x100000001B3;
    std::uint64_t hash = 0xCBF29CE484222325;
    for (const char character : name)
        hash = (hash ^ static_cast<unsigned char>(character)) * prime;
    return mix(seed * prime + hash);
}

void fillBuffer(const BufferSpec& buffer, std::uint64_t seed, std::uint64_t offset,
                std::span<std::byte> bytes) {
    if (!buffer.isInput || buffer.fill == Fill::Poison || buffer.fill == Fill::Captured) {
        fillWith<std::uint32_t>(offset, bytes, [](std::uint64_t) { return poisonWord; });
        return;
    }
    if (buffer.fill == Fill::Zero) {
        std::memset(bytes.data(), 0, bytes.size());
        return;
    }
    const auto floating = [&](std::uint64_t index) { return floatingValue(buffer, seed, index); };
    const auto integer = [&](std::uint64_t index) { return integerValue(buffer, seed, index); };
    switch (buffer.element) {
    case ScalarKind::Half:
        return fillWith<std::uint16_t>(offset, bytes,
                                       [&](std::uint64_t i) { return halfBits(floating(i)); });
    case ScalarKind::BFloat16:
        return fillWith<std::uint16_t>(offset, bytes,
                                       [&](std::uint64_t i) { return bfloat16Bits(floating(i)); });
    case ScalarKind::Double:
        if (buffer.valuesOf)
            return fillWith<double>(offset, bytes, [&](std::uint64_t index) {
                return rounded(*buffer.valuesOf, floating(index));
            });
        if (buffer.fill == Fill::Chosen)
            return fillWith<double>(offset, bytes, [&](std::uint64_t index) {
                return chosenFloating(*buffer.choice, seed, index);
            });
        return fillWith<double>(offset, bytes, floating);
    case ScalarKind::Bool:
    case ScalarKind::Char:
    case ScalarKind::UInt8:
        return fillWith<std::uint8_t>(offset, bytes, integer);
    case ScalarKind::Int16:
    case ScalarKind::UInt16:
        return fillWith<std::uint16_t>(offset, bytes, integer);
    case ScalarKind::Int32:
    case ScalarKind::UInt32:
    case ScalarKind::Unknown:
    case ScalarKind::Void:
        // A class may hold counts and indices. Small integers keep loops over them short, while the
        // bits of random floats would mean billions. Its floats become tiny, which is noted.
        return fillWith<std::uint32_t>(offset, bytes, integer);
    case ScalarKind::Int64:
    case ScalarKind::UInt64:
        return fillWith<std::uint64_t>(offset, bytes, integer);
    case ScalarKind::Float:
        // Most buffers are random, so they get a loop of their own.
        if (buffer.fill == Fill::Random)
            return fillWith<float>(offset, bytes,
                                   [&](std::uint64_t i) { return randomFloat(seed, i); });
        return fillWith<float>(offset, bytes, floating);
    }
}

} // namespace kernelskill::engine
