#include "engine/proof/known_operations.h"

#include "engine/proof/terms.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <charconv>
#include <utility>

namespace kernelskill::engine {

using analysis::ScalarKind;

namespace {

using NamedFunction = std::pair<std::string_view, KnownFunction>;

/// The names that are followed by the number of a type's kind.
constexpr std::array<NamedFunction, 5> ofTypes{{{"&", KnownFunction::And},
                                                {"|", KnownFunction::Or},
                                                {"^", KnownFunction::ExclusiveOr},
                                                {"<<", KnownFunction::ShiftLeft},
                                                {">>", KnownFunction::ShiftRight}}};
constexpr std::array<NamedFunction, 4> plain{{{"/", KnownFunction::Quotient},
                                              {"%", KnownFunction::Remainder},
                                              {"choice", KnownFunction::Choice},
                                              {"number", KnownFunction::NumberOfTruth}}};
constexpr std::array<std::string_view, 4> integerNames = {"int", "unsigned int", "long",
                                                          "unsigned long"};

} // namespace

KnownOperation operationOf(std::string_view function) {
    for (const auto& [name, known] : plain)
        if (function == name)
            return {.function = known};
    for (const auto& [name, known] : ofTypes) {
        if (!function.starts_with(name))
            continue;
        const std::string_view rest = function.substr(name.size());
        int kind = 0;
        const auto end = std::from_chars(rest.data(), rest.data() + rest.size(), kind).ptr;
        const auto type = static_cast<ScalarKind>(kind);
        if (rest.empty() || end != rest.data() + rest.size() || !isInteger(type))
            continue;
        return {.function = known, .bits = bitsOf(type), .isSignedType = isSigned(type)};
    }
    if (function.starts_with("wraps") || function.starts_with("wrapu")) {
        const std::string_view rest = function.substr(5);
        int bits = 0;
        if (std::from_chars(rest.data(), rest.data() + rest.size(), bits).ptr ==
                rest.data() + rest.size() &&
            bits > 0)
            return {
                .function = KnownFunction::Wrap, .bits = bits, .isSignedType = function[4] == 's'};
    }
    for (const std::string_view type : integerNames) {
        if (function == fmt::format("call:min:{0}:{0}", type))
            return {.function = KnownFunction::Least};
        if (function == fmt::format("call:max:{0}:{0}", type))
            return {.function = KnownFunction::Largest};
    }
    return {};
}

} // namespace kernelskill::engine
