#include "analysis/source/json_reading.h"

#include "analysis/source/json.h"
#include "analysis/source/json_nesting.h"

#include <cstdint>

namespace kernelskill::analysis {

nlohmann::json parseJson(std::string_view text) {
    return isNestedTooDeeply(text) ? nlohmann::json(nlohmann::json::value_t::discarded)
                                   : nlohmann::json::parse(text, nullptr, false);
}

template <typename T>
std::optional<T> integerIn(const nlohmann::json& value) {
    return heldInteger<T>(value);
}

template <typename T>
std::optional<T> integerIn(const nlohmann::json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() ? integerIn<T>(*found) : std::nullopt;
}

template std::optional<int> integerIn(const nlohmann::json&);
template std::optional<std::int64_t> integerIn(const nlohmann::json&);
template std::optional<std::uint64_t> integerIn(const nlohmann::json&);
template std::optional<int> integerIn(const nlohmann::json&, const char*);
template std::optional<std::int64_t> integerIn(const nlohmann::json&, const char*);
template std::optional<std::uint64_t> integerIn(const nlohmann::json&, const char*);

} // namespace kernelskill::analysis
