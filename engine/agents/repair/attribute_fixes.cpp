/// __global__, __device__ and __host__ that are missing, and kernels that return something.
#include "engine/agents/repair/fix_candidate.h"
#include "engine/agents/repair/function_declarations.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::TokenKind;

constexpr int deviceLadder = 4;

/// `attribute` in front of every declaration of `name`: they must agree.
std::vector<FixCandidate> marked(const RepairContext& context, const std::string& name,
                                 const std::string& attribute, std::string cause, int ladder = 0) {
    FixCandidate candidate{
        std::move(cause), fmt::format("mark '{}' {}", name, attribute), {}, ladder};
    for (const DeclarationTokens& declaration : declarationsOf(context, name)) {
        std::uint32_t place = context.tokens[declaration.begin].span.begin;
        candidate.edits.push_back({{place, place}, attribute + " "});
    }
    if (candidate.edits.empty())
        return {};
    return {std::move(candidate)};
}

std::vector<FixCandidate> markedForDevice(const RepairContext& context, const std::string& name) {
    auto candidates = marked(context, name, "__device__", "missing-device", deviceLadder);
    // Where the host calls it too, __device__ alone breaks that call.
    for (auto& both : marked(context, name, "__host__ __device__", "missing-device", deviceLadder))
        candidates.push_back(std::move(both));
    return candidates;
}

std::string withoutQualification(std::string name) {
    if (auto colons = name.rfind("::"); colons != std::string::npos)
        name = name.substr(colons + 2);
    return name.substr(0, name.find('<'));
}

/// `__global__ int f(...)`: everything between the attributes and the name becomes void.
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
             {{span, "void"}},
             0}};
}

} // namespace

std::vector<FixCandidate> attributeFixes(const RepairContext& context, const Diagnostic& error) {
    const std::string& message = error.message;
    std::string name = withoutQualification(quotedName(message).value_or(""));
    if (message.starts_with("kernel call to non-global function"))
        return marked(context, name, "__global__", "missing-global");
    if (message.find("must have void return type") != std::string::npos ||
        message.find("type specifier") != std::string::npos)
        return voidReturn(context, error);
    if (message.starts_with("reference to __host__ function"))
        return markedForDevice(context, name);
    if (message.starts_with("reference to __device__ function"))
        return marked(context, name, "__host__", "missing-host");
    if (message.starts_with("no matching function for call")) {
        for (const analysis::RelatedPlace& note : error.related) {
            if (note.message.find("call to __host__ function from") != std::string::npos)
                return markedForDevice(context, name);
            if (note.message.find("call to __device__ function from __host__") != std::string::npos)
                return marked(context, name, "__host__", "missing-host");
        }
    }
    return {};
}

} // namespace kernelskill::engine
