/// Makes static shared arrays dynamic if they are too large.
#include "analysis/compile/compute_capability.h"
#include "analysis/device_rules/device_rules.h"
#include "engine/repair/compile_fixes/function_tokens.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::KernelModel;
using analysis::LaunchSite;
using analysis::Span;
using analysis::TextEdit;

/// The limit of the command's GPU; the largest GPU's if the command names none.
std::uint64_t maxDynamicBytes(const analysis::CompileCommand& command) {
    std::uint64_t most = 0;
    for (const auto& limits : analysis::knownMultiprocessors())
        most = std::max<std::uint64_t>(most, limits.sharedBytesPerBlock);
    for (const std::string& architecture : command.architectures)
        if (const auto capability = analysis::computeCapabilityOf(architecture))
            if (const auto limits = analysis::limitsOf(*capability))
                most = std::min<std::uint64_t>(most, limits->sharedBytesPerBlock);
    return most;
}

/// `__shared__ float tile[64][256];` as a dynamic array; nullopt if it is declared in another form.
std::optional<TextEdit> dynamicDeclaration(const RepairContext& context,
                                           const analysis::Variable& array) {
    const std::size_t first = context.tokenAt(array.declarationSpan.begin);
    std::size_t end = first;
    std::size_t name = context.tokens.size();
    std::size_t shared = context.tokens.size();
    for (; end < context.tokens.size() && context.textAt(end) != ";"; ++end) {
        if (context.textAt(end) == array.name && name == context.tokens.size())
            name = end;
        if (context.textAt(end) == "__shared__")
            shared = end;
    }
    const bool isPlain = shared < name && name + 1 < end && context.textAt(name + 1) == "[" &&
                         !array.fromMacro && !array.type.arrayExtents.empty();
    if (!isPlain)
        return std::nullopt;
    const std::size_t firstClose = analysis::matchingBracket(context.tokens, name + 1);
    std::size_t last = firstClose;
    for (std::size_t extent = 1; extent < array.type.arrayExtents.size(); ++extent)
        last = analysis::matchingBracket(context.tokens, last + 1);
    if (last + 1 != end) // Another declarator or an initializer follows.
        return std::nullopt;
    const Span whole{context.tokens[first].span.begin, context.tokens[end].span.end};
    const std::string_view head = context.slice({whole.begin, context.tokens[name].span.begin});
    if (firstClose == last)
        return TextEdit{whole, fmt::format("extern {}{}[];", head, array.name)};
    const std::string_view type =
        context.slice({context.tokens[shared].span.end, context.tokens[name].span.begin});
    const std::string_view inner =
        context.slice({context.tokens[firstClose].span.end, context.tokens[last].span.end});
    const std::string indentation(context.indentationOf(context.lineOf(whole.begin)), ' ');
    const auto start = type.find_first_not_of(' ');
    return TextEdit{whole,
                    fmt::format("extern {}{}Values[];\n{}auto* {} = reinterpret_cast<{}(*){}>("
                                "{}Values);",
                                head, array.name, indentation, array.name,
                                type.substr(std::min(start, type.size())), inner, array.name)};
}

/// Makes the launch request `bytes` and allows them to the kernel; empty if there is no place for
/// that.
std::vector<TextEdit> launchEdits(const RepairContext& context, const LaunchSite& site,
                                  std::uint64_t bytes) {
    const std::size_t name = context.tokenAt(site.span.begin);
    const std::string_view before = name > 0 ? context.textAt(name - 1) : std::string_view{};
    const bool isStatement = before == ";" || before == "{" || before == "}";
    const std::size_t open = context.tokenAt(site.configurationSpan.begin);
    const std::size_t close = context.tokenAt(site.configurationSpan.end - 1);
    const auto parts = dividedAtCommas(context, {open + 1, close});
    if (!isStatement || site.fromMacro || parts.size() < 2)
        return {};
    const std::string callee(context.slice({site.span.begin, site.configurationSpan.begin}));
    const std::string indentation(context.indentationOf(context.lineOf(site.span.begin)), ' ');
    std::vector<TextEdit> edits;
    edits.push_back({{site.span.begin, site.span.begin},
                     fmt::format("cudaFuncSetAttribute({}, "
                                 "cudaFuncAttributeMaxDynamicSharedMemorySize, {});\n{}",
                                 callee, bytes, indentation)});
    if (parts.size() == 2) {
        const std::uint32_t end = spanOf(context, parts[1]).end;
        edits.push_back({{end, end}, fmt::format(", {}", bytes)});
    } else if (textOf(context, parts[2]) == "0") {
        edits.push_back({spanOf(context, parts[2]), std::to_string(bytes)});
    } else {
        return {};
    }
    return edits;
}

} // namespace

std::vector<FixCandidate> staticSharedFixes(const RepairContext& context,
                                            const analysis::Diagnostic& finding) {
    const KernelModel* kernel = finding.code == "static-shared-size"
                                    ? analysis::kernelAt(context.model, finding.span.begin)
                                    : nullptr;
    if (kernel == nullptr || kernel->launches.empty())
        return {};
    // A kernel can have only one dynamic array.
    const bool hasDynamic =
        std::ranges::any_of(kernel->sharedArrays, &analysis::SharedArray::isDynamic);
    const auto largest =
        std::ranges::max_element(kernel->sharedArrays, {}, &analysis::SharedArray::bytes);
    if (hasDynamic || analysis::staticSharedBytes(*kernel) > maxDynamicBytes(context.command))
        return {};
    const analysis::Variable& array = kernel->body.variable(largest->variable);
    const auto declaration = dynamicDeclaration(context, array);
    if (!declaration)
        return {};
    FixCandidate candidate{
        "static-shared-size",
        fmt::format("make '{}' dynamic and launch with {} bytes", array.name, largest->bytes),
        {*declaration}};
    for (const LaunchSite& site : kernel->launches) {
        if (!analysis::isInMainFile(context.model, site))
            return {};
        auto edits = launchEdits(context, site, largest->bytes);
        if (edits.empty())
            return {};
        std::ranges::move(edits, std::back_inserter(candidate.edits));
    }
    return {std::move(candidate)};
}

} // namespace kernelskill::engine
