/// Fixes missing __global__, __device__ and __host__, and kernels that return a value.
#include "engine/repair/compile_fixes/fix_candidate.h"
#include "engine/repair/compile_fixes/function_declarations.h"
#include "engine/repair/compile_fixes/function_tokens.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::TokenKind;

std::vector<FixCandidate> markedForDevice(const RepairContext& context, const std::string& name) {
    auto candidates = marked(context, name, "__device__", "missing-device", Ladder::Attribute);
    // If the host calls the function as well, __device__ alone breaks that call.
    for (auto& both :
         marked(context, name, "__host__ __device__", "missing-device", Ladder::Attribute))
        candidates.push_back(std::move(both));
    return candidates;
}

/// Marks members and operators, which have no simple name, where the compiler's notes point.
std::vector<FixCandidate> markedWhereNoted(const RepairContext& context, const Diagnostic& error,
                                           std::string_view note) {
    std::set<std::uint32_t> places;
    for (const analysis::RelatedPlace& related : error.related) {
        std::size_t name = context.tokenAt(related.span.begin);
        bool isNoted = related.file == context.model.file && name < context.tokens.size() &&
                       related.message.find(note) != std::string::npos;
        if (isNoted)
            places.insert(context.tokens[declarationAround(context, name).begin].span.begin);
    }
    std::vector<FixCandidate> candidates;
    for (const char* attribute : {"__device__", "__host__ __device__"}) {
        FixCandidate candidate{
            "missing-device", fmt::format("mark it {}", attribute), {}, Ladder::Attribute};
        for (std::uint32_t place : places)
            candidate.edits.push_back({{place, place}, fmt::format("{} ", attribute)});
        if (!places.empty())
            candidates.push_back(std::move(candidate));
    }
    return candidates;
}

bool isLaunched(const RepairContext& context, std::string_view name) {
    for (std::size_t index = 0; index < context.tokens.size(); ++index) {
        auto call = context.textAt(index) == name ? callAt(context, index) : std::nullopt;
        if (call && !call->configuration.isEmpty())
            return true;
    }
    return false;
}

/// Marks the caller of a device-only function as device code.
std::vector<FixCandidate> markedCaller(const RepairContext& context, const Diagnostic& error) {
    auto caller = functionAround(context, error.span.begin);
    if (!caller || context.textAt(caller->name) == "main")
        return {};
    std::string name(context.textAt(caller->name));
    return isLaunched(context, name)
               ? marked(context, name, "__global__", "missing-global")
               : marked(context, name, "__device__", "missing-device", Ladder::Attribute);
}

/// Marks a global variable that device code uses.
std::vector<FixCandidate> markedVariable(const RepairContext& context, const std::string& name) {
    int depth = 0;
    std::size_t begin = 0; // The declaration's begin.
    for (std::size_t index = 0; index < context.tokens.size(); ++index) {
        const analysis::Token& token = context.tokens[index];
        if (depth == 0 && token.text == name && index > begin)
            return {insertion("missing-device-variable", context.tokens[begin].span.begin,
                              "__device__ ", fmt::format("mark '{}' __device__", name))};
        depth += token.text == "{" || token.text == "("   ? 1
                 : token.text == "}" || token.text == ")" ? -1
                                                          : 0;
        bool ends = token.text == ";" || token.text == "}" || token.kind == TokenKind::Directive;
        if (depth == 0 && ends)
            begin = index + 1;
    }
    return {};
}

std::string withoutQualification(std::string name) {
    if (auto colons = name.rfind("::"); colons != std::string::npos)
        name = name.substr(colons + 2);
    return name.substr(0, name.find('<'));
}

/// For `__global__ int f(...)`: replaces everything between attributes and name by void.
std::vector<FixCandidate> voidReturn(const RepairContext& context, const Diagnostic& error) {
    std::size_t name = context.tokenAt(error.span.begin);
    if (name >= context.tokens.size() || context.tokens[name].kind != TokenKind::Identifier)
        return {};
    DeclarationTokens declaration = declarationAround(context, name);
    std::size_t type = name;
    while (type > declaration.begin) {
        std::string_view before = context.tokens[type - 1].text;
        bool isAttribute = before.starts_with("__") || before == ")" || before == "static" ||
                           before == "inline" || before == "extern" ||
                           context.tokens[type - 1].kind == TokenKind::String;
        if (isAttribute)
            break;
        --type;
    }
    std::uint32_t nameBegin = context.tokens[name].span.begin;
    if (type == name)
        return {insertion("kernel-return-type", nameBegin, "void ", "insert 'void'")};
    analysis::Span span{context.tokens[type].span.begin, context.tokens[name - 1].span.end};
    return {{"kernel-return-type",
             fmt::format("change '{}' to 'void'", context.slice(span)),
             {{span, "void"}}}};
}

bool isKernelAt(const RepairContext& context, std::uint32_t offset) {
    std::size_t name = context.tokenAt(offset);
    if (name >= context.tokens.size())
        return false;
    DeclarationTokens declaration = declarationAround(context, name);
    for (std::size_t index = declaration.begin; index < name; ++index)
        if (context.tokens[index].text == "__global__")
            return true;
    return false;
}

std::vector<FixCandidate> joined(std::vector<FixCandidate> first,
                                 std::vector<FixCandidate> second) {
    std::ranges::move(second, std::back_inserter(first));
    return first;
}

} // namespace

std::vector<FixCandidate> attributeFixes(const RepairContext& context, const Diagnostic& error) {
    const std::string& message = error.message;
    std::string name = withoutQualification(quotedName(message).value_or(""));
    if (message.starts_with("kernel call to non-global function"))
        return marked(context, name, "__global__", "missing-global");
    bool isUntyped = message.find("type specifier") != std::string::npos;
    if (message.find("must have void return type") != std::string::npos ||
        (isUntyped && isKernelAt(context, error.span.begin)))
        return voidReturn(context, error);
    if (message.starts_with("reference to __host__ function"))
        return joined(markedForDevice(context, name),
                      markedWhereNoted(context, error, "declared here"));
    if (message.starts_with("reference to __host__ variable"))
        return markedVariable(context, name);
    if (message.starts_with("reference to __device__ function"))
        return joined(marked(context, name, "__host__", "missing-host"),
                      markedCaller(context, error));
    if (message.starts_with("no matching ")) {
        static constexpr std::string_view ofTheHost = "call to __host__ function from";
        for (const analysis::RelatedPlace& note : error.related) {
            if (note.message.find(ofTheHost) != std::string::npos)
                return joined(markedForDevice(context, name),
                              markedWhereNoted(context, error, ofTheHost));
            if (note.message.find("call to __device__ function from __host__") != std::string::npos)
                return joined(marked(context, name, "__host__", "missing-host"),
                              markedCaller(context, error));
        }
    }
    return {};
}

} // namespace kernelskill::engine
