/// nlohmann/json whose integers are read only from numbers that they can hold.
///
/// The library itself converts any number to the requested type: -1 becomes 4294967295, and
/// converting 1e30 to an integer is undefined behaviour. With this header, a number that does not
/// fit is an error, as a string would be. Every file of the project includes this header instead of
/// the library's, because a program must not mix the two.
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace kernelskill::analysis {

/// Integers, but no truth values and no characters.
template <typename T>
concept JsonInteger =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::is_enum_v<T>;

/// Returns the integer; nullopt if the value is none that a T holds. 3.0 is no integer here.
template <JsonInteger T, typename Json>
[[nodiscard]] std::optional<T> heldInteger(const Json& json) {
    const auto held = [](auto number) {
        return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
    };
    if (json.is_number_unsigned())
        return held(*json.template get_ptr<const std::uint64_t*>());
    if (json.is_number_integer())
        return held(*json.template get_ptr<const std::int64_t*>());
    return std::nullopt;
}

/// The number as a T. Throws nlohmann::json::type_error if it is no number, and
/// nlohmann::json::out_of_range if it is no whole number that a T holds.
template <JsonInteger T, typename Json>
[[nodiscard]] T wholeNumber(const Json& json) {
    if (const std::optional<T> integer = heldInteger<T>(json))
        return *integer;
    if (json.is_number_float()) {
        const auto number = *json.template get_ptr<const double*>();
        // `end` is the largest T plus one: a power of two, which a double represents exactly.
        const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
        if (std::trunc(number) == number && number < end &&
            number >= static_cast<double>(std::numeric_limits<T>::min()))
            return static_cast<T>(number);
    } else if (!json.is_number()) {
        throw nlohmann::json::type_error::create(
            302, std::string("type must be number, but is ") + json.type_name(), &json);
    }
    throw nlohmann::json::out_of_range::create(
        406, "the number " + json.dump() + " is no integer of its type", &json);
}

} // namespace kernelskill::analysis

namespace nlohmann {

template <typename T>
    requires kernelskill::analysis::JsonInteger<T>
struct adl_serializer<T, void> {
    template <typename Json>
    static void from_json(const Json& json, T& value) {
        value = kernelskill::analysis::wholeNumber<T>(json);
    }
    template <typename Json>
    static void to_json(Json& json, T value) {
        ::nlohmann::to_json(json, value);
    }
};

} // namespace nlohmann
