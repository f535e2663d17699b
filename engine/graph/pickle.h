/// Reads pickles as data: the opcodes that torch.save writes for tensors in tuples, lists and
/// dictionaries. Nothing is imported or called; globals are names.
#pragma once

#include "analysis/source/error.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {

/// The place of a value in `Pickle::values`. One that the pickle names twice is there once.
using PickleIndex = std::uint32_t;

struct PickleValue {
    enum class Kind : std::uint8_t {
        None,
        Bool,         ///< `integer`
        Integer,      ///< `integer`
        Float,        ///< `number`
        Text,         ///< `text`
        Tuple,        ///< `items`
        List,         ///< `items`
        Dictionary,   ///< `items`: key, value, key, value, …; OrderedDict too
        Global,       ///< `text`: "torch._utils._rebuild_tensor_v2"
        Call,         ///< `items`: the global, and the tuple of its arguments
        PersistentId, ///< `items`: what torch.save calls the storage
    };
    Kind kind = Kind::None;
    std::int64_t integer = 0;
    double number = 0;
    std::string text = {};
    std::vector<PickleIndex> items = {};
};

struct Pickle {
    std::vector<PickleValue> values;
    PickleIndex root = 0;

    [[nodiscard]] const PickleValue& at(PickleIndex index) const { return values[index]; }
};

/// InvalidInput, at `where`, if the bytes are cut off, have an opcode of another kind (it is named)
/// or more than a million values. Values may contain themselves.
[[nodiscard]] Result<Pickle> readPickle(std::span<const std::byte> bytes, const std::string& where);

} // namespace kernelskill::engine::graph
