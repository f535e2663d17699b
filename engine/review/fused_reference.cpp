#include "engine/review/fused_reference.h"

#include "analysis/syntax/lexer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

using analysis::KernelModel;
using analysis::Token;

/// See analysis/prelude/include/kernelskill/emulation_abi.h.
constexpr std::string_view passDeclaration =
    "extern \"C\" __device__ unsigned ks_pass(unsigned passes);\n";

Result<const KernelModel*> writtenKernel(const ProgramSource& program, const std::string& name) {
    const KernelModel* kernel = analysis::kernelNamed(*program.model, name);
    if (kernel != nullptr && kernel->file == program.file && !kernel->fromMacro)
        return kernel;
    return std::unexpected(Error{ErrorKind::InvalidInput,
                                 fmt::format("{} is not written out in this file", name),
                                 program.file, ""});
}

/// Returns the text of the kernel as a device function of another name.
std::string asFunction(const std::string& text, const KernelModel& kernel,
                       const std::string& name) {
    std::vector<analysis::TextEdit> edits{{kernel.nameSpan, name}};
    const std::vector<Token> tokens =
        analysis::lex(text, {kernel.span.begin, kernel.nameSpan.begin});
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].text == "__global__")
            edits.push_back({tokens[i].span, "__device__"});
        if (tokens[i].text != "__launch_bounds__" || i + 1 >= tokens.size())
            continue;
        if (const auto close = analysis::matchingBracket(tokens, i + 1); close < tokens.size())
            edits.push_back({{tokens[i].span.begin, tokens[close].span.end}, ""});
    }
    for (analysis::TextEdit& edit : edits)
        edit.span = {edit.span.begin - kernel.span.begin, edit.span.end - kernel.span.begin};
    const std::string own = text.substr(kernel.span.begin, kernel.span.size());
    return analysis::applyEdits(own, std::move(edits)).value_or(std::string());
}

/// Writes a call of the kernel as the function `name`: `name<T, n>(x, y)`. `arguments` are places
/// among the parameters of `fused`.
std::string callOf(const KernelModel& kernel, const std::string& name, const KernelModel& fused,
                   const std::vector<std::size_t>& arguments) {
    std::string call = name;
    for (const analysis::TemplateParameter& parameter : kernel.templateParameters)
        call += (&parameter == kernel.templateParameters.data() ? "<" : ", ") + parameter.name;
    call += kernel.templateParameters.empty() ? "(" : ">(";
    for (const std::size_t& place : arguments)
        call += (&place == arguments.data() ? "" : ", ") + fused.parameters.at(place).name;
    return call + ");";
}

/// The text of two kernels as functions, and a body that calls them, pass after pass.
struct Passes {
    analysis::Span before; ///< An empty place, for the functions.
    std::string functions;
    analysis::Span body;
    std::string calls;
};

/// Makes the passes of `fused`, a kernel of `one`, from the two kernels of `two`.
Result<Passes> passesOf(const ProgramSource& two, const ProgramSource& one,
                        const FusedKernel& fused) {
    const auto first = writtenKernel(two, fused.first);
    const auto second = writtenKernel(two, fused.second);
    const auto merged = writtenKernel(one, fused.name);
    for (const auto* kernel : {&first, &second, &merged})
        if (!*kernel)
            return std::unexpected(kernel->error());
    const KernelModel& kernel = **merged;
    for (const auto* places : {&fused.firstArguments, &fused.secondArguments})
        for (const std::size_t place : *places)
            if (place >= kernel.parameters.size())
                return std::unexpected(
                    Error{ErrorKind::InvalidInput,
                          kernel.name + " takes fewer arguments than it is given", one.file, ""});
    const std::string ofFirst = kernel.name + "_first";
    const std::string ofSecond = kernel.name + "_second";
    return Passes{.before = {kernel.span.begin, kernel.span.begin},
                  .functions = fmt::format("{}{}\n{}\n", passDeclaration,
                                           asFunction(two.text, **first, ofFirst),
                                           asFunction(two.text, **second, ofSecond)),
                  .body = kernel.bodySpan,
                  .calls = fmt::format("{{ if (ks_pass(2) == 0) {} else {} }}",
                                       callOf(**first, ofFirst, kernel, fused.firstArguments),
                                       callOf(**second, ofSecond, kernel, fused.secondArguments))};
}

} // namespace

Result<FusedReference> fusedReference(const ProgramSource& original, const ProgramSource& candidate,
                                      const FusedKernel& fused) {
    auto passes = passesOf(original, candidate, fused);
    if (!passes)
        return std::unexpected(passes.error());
    auto text = analysis::applyEdits(
        candidate.text, {{passes->before, passes->functions}, {passes->body, passes->calls}});
    if (!text)
        return std::unexpected(text.error());
    FusedReference reference{candidate, {}};
    reference.program.text = std::move(*text);
    reference.program.model = nullptr;
    reference.program.captures = nullptr; // No program has launched it.
    const std::uint32_t functions = passes->before.begin;
    const auto inserted = static_cast<std::uint32_t>(passes->functions.size());
    const std::uint32_t begin = passes->body.begin + inserted;
    reference.edits[candidate.file] = {
        {{functions, functions + inserted}, ""},
        {{begin, begin + static_cast<std::uint32_t>(passes->calls.size())},
         candidate.text.substr(passes->body.begin, passes->body.size())}};
    return reference;
}

Result<analysis::EditSet> splitInPasses(const ProgramSource& original,
                                        const ProgramSource& candidate, const FusedKernel& split) {
    auto passes = passesOf(candidate, original, split);
    if (!passes)
        return std::unexpected(passes.error());
    return analysis::EditSet{{original.file,
                              {{passes->before, std::move(passes->functions)},
                               {passes->body, std::move(passes->calls)}}}};
}

} // namespace kernelskill::engine
