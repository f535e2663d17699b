#include "analysis/source/json_reading.h"

#include "analysis/source/json.h"
#include "analysis/source/json_nesting.h"

#include <cstdint>
#include <utility>

namespace kernelskill::analysis {

nlohmann::json parseJson(std::string_view text) {
    return isNestedTooDeeply(text) ? nlohmann::json(nlohmann::json::value_t::discarded)
                                   : nlohmann::json::parse(text, nullptr, false);
}

template <typename T>
std::optional<T> integerIn(const nlohmann::json& value) {
    const auto held = [](auto number) {
        return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
    };
    if (value.is_number_unsigned())
        return held(value.get<std::uint64_t>());
    if (value.is_number_integer())
        return held(value.get<std::int64_t>());
    return std::nullopt;
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
