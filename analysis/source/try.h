/// Handing a failure on to the caller in one line, for functions that return std::expected.
#pragma once

#include <expected>
#include <utility>

// The value needs a name that no other line of the function has.
#define KERNELSKILL_JOINED(first, second) first##second
#define KERNELSKILL_NAMED(first, second) KERNELSKILL_JOINED(first, second)
#define KERNELSKILL_TRY_AS(tried, declaration, ...)                                                \
    auto tried = (__VA_ARGS__);                                                                    \
    if (!tried)                                                                                    \
        return std::unexpected(std::move(tried).error());                                          \
    declaration = *std::move(tried) /* NOLINT(bugprone-macro-parentheses) */

/// Declares a variable with the value of an expression, or returns the expression's error:
///     KERNELSKILL_TRY(const auto plan, planSwizzle(context));
/// Two statements, so it cannot stand alone behind an `if`.
#define KERNELSKILL_TRY(declaration, ...)                                                          \
    KERNELSKILL_TRY_AS(KERNELSKILL_NAMED(tried, __LINE__), declaration, __VA_ARGS__)

/// Returns the error of an expression that has no value to keep:
///     KERNELSKILL_CHECK(requireEditable(context));
#define KERNELSKILL_CHECK(...)                                                                     \
    if (auto checked = (__VA_ARGS__); !checked)                                                    \
    return std::unexpected(std::move(checked).error())
