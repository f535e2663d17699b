/// Fixes __shared__ arrays: dynamic ones declared wrongly or not at all, and static ones whose size
/// is no constant.
#include "engine/repair/compile_fixes/function_tokens.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <string>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::Span;
using analysis::TokenKind;

/// The tokens of the __shared__ declaration that contains the error or precedes it, without the
/// ';'.
TokenRange sharedDeclaration(const RepairContext& context, const Diagnostic& error) {
    std::uint32_t line = context.lineOf(error.span.begin);
    for (std::size_t index = 0; index < context.tokens.size(); ++index) {
        if (context.textAt(index) != "__shared__")
            continue;
        std::size_t begin = index;
        if (begin > 0 && context.textAt(begin - 1) == "extern")
            --begin;
        std::size_t end = index;
        while (end < context.tokens.size() && context.textAt(end) != ";")
            ++end;
        if (context.lineOf(context.tokens[begin].span.begin) <= line && end > 0 &&
            line <= context.lineOf(context.tokens[end - 1].span.end))
            return {begin, end};
    }
    return {};
}

/// For `__shared__ float s[];`.
void addExtern(const RepairContext& context, TokenRange declaration,
               std::vector<FixCandidate>& candidates) {
    if (context.textAt(declaration.begin) != "extern")
        candidates.push_back(insertion("dynamic-shared-memory",
                                       context.tokens[declaration.begin].span.begin, "extern ",
                                       "declare it extern: its size comes with the launch"));
}

/// Makes `extern __shared__ float* s;` an array without extent.
void addArrayShape(const RepairContext& context, TokenRange declaration,
                   std::vector<FixCandidate>& candidates) {
    std::size_t name = declaration.end - 1;
    if (context.textAt(declaration.begin) != "extern" || name < declaration.begin + 2 ||
        context.textAt(name - 1) != "*")
        return;
    std::uint32_t end = context.tokens[name].span.end;
    candidates.push_back({"dynamic-shared-memory",
                          fmt::format("declare '{}[]'", context.textAt(name)),
                          {{context.tokens[name - 1].span, ""}, {{end, end}, "[]"}}});
}

/// For `extern __shared__ float a[256];`: nvcc takes it as a static array; other compilers refuse
/// it.
void removeExtern(const RepairContext& context, TokenRange declaration,
                  std::vector<FixCandidate>& candidates) {
    const bool isSized = context.textAt(declaration.begin) == "extern" &&
                         context.textAt(declaration.end - 1) == "]" &&
                         context.textAt(declaration.end - 2) != "[";
    if (isSized)
        candidates.push_back({"sized-extern-shared",
                              "remove 'extern': the array has a size",
                              {{{context.tokens[declaration.begin].span.begin,
                                 context.tokens[declaration.begin + 1].span.begin},
                                ""}}});
}

/// For `extern __shared__ int a[];` if another kernel has a float array of that name: declares raw
/// bytes with another name and casts them. Two extern arrays with one name are one variable in all
/// kernels.
void addBytes(const RepairContext& context, TokenRange declaration,
              std::vector<FixCandidate>& candidates) {
    const bool isDynamic =
        declaration.end >= declaration.begin + 6 && context.textAt(declaration.begin) == "extern" &&
        context.textAt(declaration.end - 1) == "]" && context.textAt(declaration.end - 2) == "[";
    if (!isDynamic)
        return;
    const std::size_t name = declaration.end - 3;
    std::size_t type = declaration.begin + 1;
    // Skips __shared__ and __align__(16).
    while (type < name && context.textAt(type).starts_with("__"))
        type = context.textAt(type + 1) == "("
                   ? analysis::matchingBracket(context.tokens, type + 1) + 1
                   : type + 1;
    if (type >= name)
        return;
    const std::string_view element = textOf(context, {type, name});
    const std::string_view array = context.textAt(name);
    const Span whole = spanOf(context, declaration);
    const std::string indentation(context.indentationOf(context.lineOf(whole.begin)), ' ');
    candidates.push_back(
        {"shared-name-twice",
         fmt::format("declare the bytes of '{}' under a name of their own", array),
         {{whole, fmt::format("extern __shared__ __align__(16) unsigned char {0}Bytes[];\n"
                              "{1}auto* {0} = reinterpret_cast<{2}*>({0}Bytes)",
                              array, indentation, element)}}});
}

/// The numbers and constants that launches of the function use for a block.
std::vector<std::string> blockExtents(const RepairContext& context,
                                      const FunctionTokens& function) {
    std::vector<std::string> extents;
    for (std::size_t token = 0; token < context.tokens.size(); ++token) {
        if (context.textAt(token) != context.textAt(function.name) || token == function.name)
            continue;
        auto call = callAt(context, token);
        if (!call || call->configuration.isEmpty())
            continue;
        auto parts =
            dividedAtCommas(context, {call->configuration.begin + 1, call->configuration.end - 1});
        if (parts.size() < 2)
            continue;
        std::string block(textOf(context, parts[1]));
        // The kernel sees `const int threads = 256;` only if it is before the kernel.
        for (std::size_t index = 0; index + 2 < context.tokens.size(); ++index) {
            bool isDefinition =
                context.textAt(index) == block &&
                (context.textAt(index + 1) == "=" || context.textAt(index + 1) == "(") &&
                context.tokens[index + 2].kind == TokenKind::Number;
            if (isDefinition)
                extents.emplace_back(context.textAt(index + 2));
        }
        extents.push_back(std::move(block));
        // For dim3(16, 16).
        for (std::size_t index = parts[1].begin; index < parts[1].end; ++index)
            if (context.tokens[index].kind == TokenKind::Number)
                extents.emplace_back(context.textAt(index));
    }
    return extents;
}

/// Replaces an extent that is only known at run time by the constant of the launch's block.
void addConstantExtents(const RepairContext& context, TokenRange declaration,
                        std::vector<FixCandidate>& candidates) {
    auto function = functionAround(context, context.tokens[declaration.begin].span.begin);
    if (!function)
        return;
    for (std::size_t index = declaration.begin; index + 1 < declaration.end; ++index) {
        if (context.textAt(index) != "[")
            continue;
        std::size_t close = analysis::matchingBracket(context.tokens, index);
        bool isBlock = false;
        Span span{};
        for (std::size_t word = index + 1; word + 2 < close + 1; ++word)
            if (context.textAt(word) == "blockDim") {
                isBlock = true;
                span = spanOf(context, {word, word + 3});
            }
        if (!isBlock)
            continue;
        for (const std::string& extent : blockExtents(context, *function))
            candidates.push_back(
                {"shared-extent",
                 fmt::format("change '{}' to '{}', as it is launched", context.slice(span), extent),
                 {{span, extent}}});
    }
}

/// Declares a name that is used like an array, if a launch gives the kernel dynamic shared memory
/// or if the name suggests it.
void addMissingDeclaration(const RepairContext& context, const Diagnostic& error,
                           std::vector<FixCandidate>& candidates) {
    auto name = quotedName(error.message);
    auto function = functionAround(context, error.span.begin);
    if (!name || !function ||
        !(function->isMarked(context, "__global__") || function->isMarked(context, "__device__")))
        return;
    bool isDynamic = false;
    bool isOfBytes = false;
    std::vector<std::string> types;
    for (std::size_t token = 0; token < context.tokens.size(); ++token) {
        auto call = context.textAt(token) == context.textAt(function->name) ? callAt(context, token)
                                                                            : std::nullopt;
        if (!call || call->configuration.isEmpty())
            continue;
        auto parts =
            dividedAtCommas(context, {call->configuration.begin + 1, call->configuration.end - 1});
        if (parts.size() < 3 || textOf(context, parts[2]) == "0")
            continue;
        isDynamic = true;
        // `p * sizeof(float4)` tells the element type.
        for (std::size_t word = parts[2].begin; word + 2 < parts[2].end; ++word)
            if (context.textAt(word) == "sizeof")
                types.emplace_back(context.textAt(word + 2));
    }
    static const std::set<std::string_view> usual{"shared", "smem", "sdata", "s_data", "shmem",
                                                  "tile",   "temp", "cache", "sh_mem"};
    if (!isDynamic && !usual.contains(*name))
        return;
    // A cast of the name to a pointer means raw bytes.
    for (std::size_t index = function->body.begin; index + 2 < function->body.end; ++index)
        isOfBytes |= context.textAt(index) == "*" && context.textAt(index + 1) == ")" &&
                     context.textAt(index + 2) == *name;
    if (isOfBytes)
        types.insert(types.begin(), "unsigned char");
    for (const DeclaredName& parameter : function->parameters)
        if (parameter.isPointer) {
            std::string type;
            for (std::size_t word = parameter.tokens.begin; word < parameter.tokens.end; ++word)
                if (context.tokens[word].kind == TokenKind::Identifier &&
                    context.textAt(word) != "const" && !context.textAt(word).starts_with("__") &&
                    context.textAt(word) != parameter.name)
                    type += (type.empty() ? "" : " ") + std::string(context.textAt(word));
            types.push_back(std::move(type));
        }
    types.emplace_back("float");
    std::uint32_t place = context.tokens[function->body.begin].span.end;
    std::size_t inner = function->body.begin + 1;
    std::string indentation(context.indentationOf(context.lineOf(context.tokens[inner].span.begin)),
                            ' ');
    std::set<std::string> seen;
    for (const std::string& type : types) {
        std::string declaration = fmt::format("extern __shared__ {} {}[];", type, *name);
        if (seen.insert(type).second)
            candidates.push_back(insertion("dynamic-shared-memory", place,
                                           "\n" + indentation + declaration,
                                           fmt::format("declare '{}'", declaration), Ladder::Type));
    }
}

} // namespace

std::vector<FixCandidate> sharedMemoryFixes(const RepairContext& context, const Diagnostic& error) {
    std::vector<FixCandidate> candidates;
    if (says(error, "use of undeclared identifier"))
        addMissingDeclaration(context, error, candidates);
    TokenRange declaration = sharedDeclaration(context, error);
    if (declaration.isEmpty())
        return candidates;
    if (says(error, "needs an explicit size") || says(error, "incomplete type"))
        addExtern(context, declaration, candidates);
    if (says(error, "variable length array") || says(error, "variable-length") ||
        says(error, "constant expression"))
        addConstantExtents(context, declaration, candidates);
    if (says(error, "redeclaration of") && says(error, "with a different type"))
        addBytes(context, declaration, candidates);
    if (says(error, "cannot be 'extern'"))
        removeExtern(context, declaration, candidates);
    addArrayShape(context, declaration, candidates);
    return candidates;
}

} // namespace kernelskill::engine
