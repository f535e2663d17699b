#include "engine/capture/kernel_symbol.h"

#include "analysis/source/trimmed.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string_view>

namespace kernelskill::engine {
namespace {

constexpr std::string_view unnamed = "(anonymous namespace)::";

std::string withoutUnnamed(std::string text) {
    for (auto at = text.find(unnamed); at != std::string::npos; at = text.find(unnamed, at))
        text.erase(at, unnamed.size());
    return text;
}

/// The bracket that the last character closes; npos if there is none.
std::size_t opening(std::string_view text) {
    int depth = 0;
    for (auto at = text.size(); at-- > 0;) {
        if (text[at] == ')' || text[at] == '>')
            ++depth;
        else if ((text[at] == '(' || text[at] == '<') && --depth == 0)
            return at;
    }
    return std::string_view::npos;
}

std::vector<std::string> listed(std::string_view text) {
    std::vector<std::string> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        if (at == text.size() || (text[at] == ',' && depth == 0)) {
            if (const auto part = analysis::trimmed(text.substr(begin, at - begin)); !part.empty())
                parts.emplace_back(part);
            begin = at + 1;
        } else if (text[at] == '(' || text[at] == '<') {
            ++depth;
        } else if (text[at] == ')' || text[at] == '>') {
            --depth;
        }
    }
    return parts;
}

} // namespace

KernelSymbol kernelSymbol(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> spelled{
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free};
    // Types demangle as well. A spelled-out name has parentheses.
    const bool isMangled = status == 0 && spelled != nullptr && symbol.starts_with("_Z");
    if (!isMangled && symbol.find('(') == std::string::npos)
        return {symbol, {}, {}};
    const std::string text = withoutUnnamed(isMangled ? spelled.get() : symbol);
    std::string_view name = text;
    KernelSymbol result;
    if (name.ends_with(')')) {
        const auto parameters = opening(name);
        if (parameters == std::string_view::npos)
            return {symbol, {}, {}};
        result.parameterTypes = listed(name.substr(parameters + 1, name.size() - parameters - 2));
        name = analysis::trimmed(name.substr(0, parameters));
    }
    if (name.ends_with('>')) {
        const auto arguments = opening(name);
        if (arguments == std::string_view::npos)
            return {symbol, {}, {}};
        result.templateArguments = listed(name.substr(arguments + 1, name.size() - arguments - 2));
        name = name.substr(0, arguments);
    }
    // A template's name begins with its return type.
    const auto space = name.rfind(' ');
    result.qualifiedName = space == std::string_view::npos ? name : name.substr(space + 1);
    return result;
}

bool names(const KernelSymbol& symbol, const analysis::KernelModel& kernel) {
    return symbol.qualifiedName == kernel.qualifiedName &&
           symbol.templateArguments.empty() == kernel.templateParameters.empty();
}

} // namespace kernelskill::engine
