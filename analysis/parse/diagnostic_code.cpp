#include "analysis/parse/diagnostic_code.h"

#include <array>
#include <cctype>

namespace kernelskill::analysis {

namespace {

struct Pattern {
    std::string_view begin; ///< The start of the message.
    std::string_view holds; ///< A part of the message.
    std::string_view code;
};

/// The first match decides.
constexpr auto patterns = std::to_array<Pattern>({
    {"use of undeclared identifier", "", "undeclared-identifier"},
    {"unknown type name", "", "unknown-type"},
    {"no type named", "", "unknown-type"},
    {"no template named", "", "unknown-type"},
    {"no member named", "", "no-member"},
    {"use of undeclared label", "", "undeclared-label"},
    {"expected ';'", "", "expected-semicolon"},
    {"expected '}'", "", "expected-brace"},
    {"extraneous closing brace", "", "extraneous-brace"},
    {"expected ')'", "", "expected-parenthesis"},
    {"expected ']'", "", "expected-bracket"},
    {"expected '>>>'", "", "launch-syntax"},
    {"expected expression", "", "expected-expression"},
    {"expected unqualified-id", "", "expected-name"},
    {"expected", "", "syntax-error"},
    {"", "file not found", "include-not-found"},
    {"no matching function for call", "", "no-matching-function"},
    {"no matching member function", "", "no-matching-function"},
    {"no matching constructor", "", "no-matching-constructor"},
    {"no matching conversion", "", "no-conversion"},
    {"too few arguments", "", "argument-count"},
    {"too many arguments", "", "argument-count"},
    {"call to ", "ambiguous", "ambiguous-call"},
    {"cannot initialize", "", "incompatible-types"},
    {"assigning to", "", "incompatible-types"},
    {"incompatible", "", "incompatible-types"},
    {"invalid operands", "", "invalid-operands"},
    {"cannot assign to", "const", "assign-to-const"},
    {"expression is not assignable", "", "not-assignable"},
    {"redefinition of", "", "redefinition"},
    {"call to global function", "not configured", "launch-not-configured"},
    {"kernel call to non-global function", "", "launch-of-non-kernel"},
    {"kernel function type", "must have void return", "kernel-returns-value"},
    {"reference to __host__ function", "", "host-call-in-device-code"},
    {"reference to __device__ function", "", "device-call-in-host-code"},
    {"reference to __global__ function", "", "kernel-call-in-device-code"},
    {"reference to __host__", "variable", "host-variable-in-device-code"},
    {"source file is not valid UTF-8", "", "invalid-utf8"},
    {"unterminated", "", "unterminated"},
    {"static assertion failed", "", "static-assertion"},
    {"subscripted value is not", "", "not-an-array"},
});

std::string kebab(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (!result.empty() && result.back() != '-')
            result += '-';
    }
    while (result.ends_with('-'))
        result.pop_back();
    return result;
}

} // namespace

std::string diagnosticCode(std::string_view message, std::string_view option,
                           std::string_view category) {
    for (const Pattern& pattern : patterns)
        if (message.starts_with(pattern.begin) &&
            message.find(pattern.holds) != std::string_view::npos)
            return std::string(pattern.code);
    if (option.starts_with("-W"))
        return kebab(option.substr(2));
    return "clang-" + (category.empty() ? std::string("error") : kebab(category));
}

} // namespace kernelskill::analysis
