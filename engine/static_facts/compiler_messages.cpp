#include "engine/static_facts/compiler_messages.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <set>

namespace kernelskill::engine {
namespace {

template <typename Visit>
void eachLine(std::string_view text, const Visit& visit) {
    while (!text.empty()) {
        const auto end = text.find('\n');
        visit(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

/// Reads `/a/b.cu(12): error: text`.
std::optional<DeviceMessage> compilerError(std::string_view line) {
    static constexpr auto markers =
        std::to_array<std::string_view>({"): error: ", "): catastrophic error: ", "): error #"});
    for (const auto marker : markers) {
        const auto at = line.find(marker);
        const auto open = at == std::string_view::npos ? at : line.rfind('(', at);
        if (open == std::string_view::npos)
            continue;
        DeviceMessage message;
        message.file = line.substr(0, open);
        const auto number = line.substr(open + 1, at - open - 1);
        std::from_chars(number.data(), number.data() + number.size(), message.line);
        auto text = line.substr(at + marker.size());
        if (marker.ends_with('#')) // For "error #20: text".
            text.remove_prefix(std::min(text.size(), text.find(": ") + 2));
        message.text = text;
        return message;
    }
    return std::nullopt;
}

std::optional<DeviceMessage> ptxasError(std::string_view line) {
    for (const std::string_view prefix : {"ptxas fatal", "ptxas error"}) {
        const auto colon = line.find(": ");
        if (line.starts_with(prefix) && colon != std::string_view::npos)
            return DeviceMessage{{}, 0, std::string(line.substr(colon + 2))};
    }
    return std::nullopt;
}

/// "saxpy" for "blas::saxpy<float>".
std::string lastName(std::string_view quoted) {
    quoted = quoted.substr(0, quoted.find_first_of("<("));
    if (const auto scope = quoted.rfind("::"); scope != std::string_view::npos)
        quoted.remove_prefix(scope + 2);
    if (const auto space = quoted.rfind(' '); space != std::string_view::npos)
        quoted.remove_prefix(space + 1);
    return std::string(quoted);
}

std::string demangled(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name{
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free};
    return status == 0 && name ? std::string(name.get()) : symbol;
}

} // namespace

std::optional<DeviceMessage> firstDeviceError(std::string_view log) {
    std::optional<DeviceMessage> first;
    eachLine(log, [&](std::string_view line) {
        if (!first)
            first = compilerError(line);
        if (!first)
            first = ptxasError(line);
    });
    return first;
}

std::vector<std::string> undefinedDeviceNames(std::string_view log) {
    static constexpr auto phrases = std::to_array<std::string_view>(
        {"is undefined", "has no member", "incomplete type", "is not a type name",
         "is not a template", "is not a class or namespace name", "no instance of"});
    std::set<std::string> names;
    eachLine(log, [&](std::string_view line) {
        const auto error = compilerError(line);
        if (!error)
            return;
        bool missing = false;
        for (const auto phrase : phrases)
            missing |= error->text.find(phrase) != std::string::npos;
        const std::string_view text = error->text;
        for (auto open = text.find('"'); missing && open != std::string_view::npos;) {
            const auto close = text.find('"', open + 1);
            if (close == std::string_view::npos)
                break;
            if (auto name = lastName(text.substr(open + 1, close - open - 1)); !name.empty())
                names.insert(std::move(name));
            open = text.find('"', close + 1);
        }
    });
    return {names.begin(), names.end()};
}

std::optional<std::string> unresolvedFunction(std::string_view log) {
    static constexpr std::string_view phrase = "Unresolved extern ";
    const auto at = log.find(phrase);
    const auto open = at == std::string_view::npos ? at : log.find('\'', at);
    const auto close = open == std::string_view::npos ? open : log.find('\'', open + 1);
    if (close == std::string_view::npos)
        return std::nullopt;
    return demangled(std::string(log.substr(open + 1, close - open - 1)));
}

std::string functionName(const std::string& symbol) {
    // For example "void lib::(anonymous namespace)::tile<float, 64>(float*)"; a C symbol is its own
    // name.
    auto name = demangled(symbol);
    static constexpr std::string_view unnamed = "(anonymous namespace)::";
    for (auto at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed))
        name.erase(at, unnamed.size());
    return lastName(name);
}

} // namespace kernelskill::engine
