#include "engine/proposal/call_rules.h"

#include "analysis/model/known_functions.h"
#include "analysis/source/files.h"
#include "analysis/syntax/lexer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <system_error>
#include <vector>

namespace kernelskill::engine {

using analysis::Token;

namespace {

using Refusal = std::optional<std::string>;

constexpr std::array<std::string_view, 7> notForProposals{"printf", "puts",   "system", "remove",
                                                          "clock",  "malloc", "free"};
constexpr std::uint64_t localBytes = 512u << 10;
constexpr std::uint64_t sharedBytes = 227u << 10;

std::vector<std::string> functionNames(const analysis::FileModel& model) {
    std::vector<std::string> names;
    for (const auto& kernel : model.kernels)
        names.push_back(kernel.qualifiedName);
    for (const auto& function : model.deviceFunctions)
        names.push_back(function.qualifiedName);
    return names;
}

std::set<std::string, std::less<>> calledNames(const analysis::KernelModel& kernel) {
    std::set<std::string, std::less<>> names;
    for (const auto& expr : kernel.body.exprs)
        if (expr.kind == analysis::ExprKind::Call)
            names.emplace(analysis::unqualified(expr.name));
    return names;
}

Refusal otherParameters(const analysis::KernelModel& original,
                        const analysis::KernelModel& proposed) {
    const auto same = [](const analysis::Parameter& a, const analysis::Parameter& b) {
        return a.type.scalar == b.type.scalar && a.type.lanes == b.type.lanes &&
               a.type.pointerDepth == b.type.pointerDepth && a.type.size == b.type.size;
    };
    if (std::ranges::equal(original.parameters, proposed.parameters, same))
        return std::nullopt;
    return "its parameters are not the original's";
}

Refusal badCall(const analysis::FileModel& before, const analysis::KernelModel& original,
                const analysis::KernelModel& proposed, const DeviceNames& names) {
    const auto known = calledNames(original);
    const auto isAllowed = [&](const analysis::Expr& call) {
        const std::string_view name = analysis::unqualified(call.name);
        // A method belongs to an object, whose type comes from CUDA or from the file.
        return call.isMethod || names.contains(name) || known.contains(name) ||
               analysis::mathFunction(name) != analysis::MathKind::None ||
               std::ranges::find(before.deviceFunctions, name, &analysis::KernelModel::name) !=
                   before.deviceFunctions.end() ||
               std::ranges::find(proposed.body.variables, name, &analysis::Variable::name) !=
                   proposed.body.variables.end();
    };
    for (const auto& expr : proposed.body.exprs)
        if (expr.kind == analysis::ExprKind::Call && !isAllowed(expr))
            return fmt::format(
                "it calls '{}', which is not a device function of CUDA or of the file", expr.name);
    return std::nullopt;
}

Refusal tooMuchMemory(const analysis::KernelModel& proposed) {
    std::uint64_t local = 0;
    std::uint64_t shared = 0;
    for (const auto& variable : proposed.body.variables) {
        if (variable.storage == analysis::Storage::Local)
            local += variable.type.size;
        else if (variable.storage == analysis::Storage::Shared)
            shared += variable.type.size;
    }
    if (local > localBytes)
        return fmt::format("its variables take {} bytes a thread; a GPU has {}", local, localBytes);
    if (shared > sharedBytes)
        return fmt::format("its shared memory takes {} bytes; a GPU has {}", shared, sharedBytes);
    return std::nullopt;
}

} // namespace

DeviceNames::DeviceNames(const std::filesystem::path& preludeInclude) {
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(preludeInclude, error)) {
        if (!entry.is_regular_file(error))
            continue;
        const std::string text = analysis::readFile(entry.path()).value_or("");
        for (const Token& token : analysis::lex(text))
            if (token.isIdentifier())
                names_.emplace(token.text);
    }
    for (const std::string_view name : notForProposals)
        names_.erase(std::string(name));
}

std::optional<std::string> refusalOf(const analysis::FileModel& before,
                                     const analysis::KernelModel& original,
                                     const analysis::FileModel& after,
                                     const analysis::KernelModel& proposed,
                                     const DeviceNames& names) {
    if (functionNames(before) != functionNames(after))
        return "it changes the set of functions in the file";
    if (proposed.body.root == analysis::noId)
        return "it has no body";
    Refusal refusal = otherParameters(original, proposed);
    if (!refusal)
        refusal = badCall(before, original, proposed, names);
    if (!refusal)
        refusal = tooMuchMemory(proposed);
    return refusal;
}

} // namespace kernelskill::engine
