/// Reads JSON that others wrote: bounded in depth and memory, with errors that say where.
#pragma once

#include "analysis/source/error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kernelskill::engine::graph {

/// InvalidInput. `where` names the node or the value.
[[nodiscard]] std::unexpected<Error> malformed(std::string what, const std::string& where);

/// InvalidInput if the text is no JSON, is nested more deeply than `analysis::maxJsonNesting`, or
/// has more than four million values. Members called "from_node", "stack_trace" and "torch_fn",
/// as deep as the metadata of nodes is, are dropped: most of a program is that.
[[nodiscard]] Result<nlohmann::json> parseJson(std::string_view text, const std::string& where);

/// A member of an object; null if it is absent or null, or if `object` is none.
[[nodiscard]] const nlohmann::json* member(const nlohmann::json& object, const char* name);

/// The same; InvalidInput if it is absent or of another kind.
[[nodiscard]] Result<const nlohmann::json*>
requiredObject(const nlohmann::json& object, const char* name, const std::string& where);
[[nodiscard]] Result<const nlohmann::json*>
requiredArray(const nlohmann::json& object, const char* name, const std::string& where);
[[nodiscard]] Result<std::string> requiredText(const nlohmann::json& object, const char* name,
                                               const std::string& where);
[[nodiscard]] Result<std::int64_t> requiredInteger(const nlohmann::json& object, const char* name,
                                                   const std::string& where);

/// InvalidInput if the value is no integer of 64 bits.
[[nodiscard]] Result<std::int64_t> integerOf(const nlohmann::json& value, const std::string& where);
/// A number, or "Infinity", "-Infinity", "NaN", as torch writes them.
[[nodiscard]] Result<double> numberOf(const nlohmann::json& value, const std::string& where);
[[nodiscard]] Result<std::string> textOf(const nlohmann::json& value, const std::string& where);

/// The one member of a union: {"as_int": 3}.
struct UnionMember {
    std::string kind;
    const nlohmann::json* value = nullptr;
};
[[nodiscard]] Result<UnionMember> unionOf(const nlohmann::json& value, const std::string& where);

} // namespace kernelskill::engine::graph
