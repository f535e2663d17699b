#include "engine/generate/generator.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

void replaceAll(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

/// The reviewer's texts name an original kernel; here that is the reference.
void nameReference(Verdict& verdict, const std::string& name) {
    const std::string quoted = "'" + name + "'";
    for (Check& check : verdict.checks) {
        for (std::string* text : {&check.name, &check.detail}) {
            replaceAll(*text, "the original", quoted);
            replaceAll(*text, "matches original", "matches " + quoted);
        }
    }
    replaceAll(verdict.summary, "the original", quoted);
    replaceAll(verdict.summary, "matches original", "matches " + quoted);
}

/// The comparison concerns one of several parts of the reference.
void namePart(Verdict& verdict, std::uint32_t line) {
    for (Check& check : verdict.checks)
        check.name = fmt::format("line {}: {}", line, check.name);
    verdict.summary += fmt::format(" (the loops of line {})", line);
}

std::string summaryOf(const Verdict& verdict, const std::string& name, std::size_t parts,
                      skills::Numerics numerics) {
    const std::string begin = "matches '" + name + "', seed ";
    std::size_t inputs = 0;
    std::set<std::string> sizes;
    for (const Check& check : verdict.checks) {
        const auto at = check.name.find(begin);
        if (at == std::string::npos)
            continue;
        ++inputs;
        const std::size_t label = check.name.find(", ", at + begin.size()) + 2;
        sizes.insert(check.name.substr(0, at) + check.name.substr(label));
    }
    std::string summary = fmt::format("Computes what '{}' does on {} fresh inputs of {} size{}",
                                      name, inputs, sizes.size(), sizes.size() == 1 ? "" : "s");
    if (parts > 1)
        summary += fmt::format(", each of its {} kernels for itself", parts);
    if (numerics == skills::Numerics::Reassociates)
        summary += "; sums are reassociated, and as near to float64 as the function's own";
    return summary + ". Not measured: there is no kernel to compare it with.";
}

} // namespace

Result<Verdict> Generator::checked(const ProgramSource& program, const DraftCheck& check,
                                   const std::string& reference, std::stop_token stop,
                                   const ProgressSink& progress,
                                   const ReviewOptions& options) const {
    ProgramSource original = program;
    original.text = check.referenceText;
    original.captures = nullptr;
    auto model = analysis::analyzeFile(original.file, original.text, original.command, toolchain_,
                                       original.unsaved);
    if (!model)
        return std::unexpected(model.error());
    original.model = std::make_shared<const analysis::FileModel>(std::move(*model));
    const analysis::KernelModel* kernel = analysis::kernelNamed(*original.model, check.kernel);
    if (kernel == nullptr)
        return std::unexpected(Error{ErrorKind::Internal,
                                     "the reference of '" + reference + "' does not parse",
                                     program.file, ""});
    const auto size = static_cast<std::uint32_t>(original.text.size());
    ReviewOptions untimed = options;
    untimed.measure = false; // Timing one thread against many is meaningless.
    untimed.probeLargeLaunches = false;
    return reviewer_.review({original, *kernel},
                            {{original.file, {{{0, size}, check.candidateText}}}}, check.numerics,
                            std::move(stop), progress, untimed);
}

Result<GeneratedKernel> Generator::generate(const ProgramSource& program,
                                            const Reference& reference, std::stop_token stop,
                                            const ProgressSink& progress,
                                            const ReviewOptions& options) const {
    auto draft = reference.draft();
    if (!draft)
        return std::unexpected(Error{ErrorKind::Unsupported,
                                     fmt::format("no kernel can be generated from '{}': {}",
                                                 reference.name(), draft.error().reason),
                                     draft.error().gate, ""});
    if (progress)
        progress("parsing the reference", 0);
    GeneratedKernel generated{reference.name(),
                              draft->kernel,
                              draft->why,
                              draft->numerics,
                              std::move(draft->edits),
                              {},
                              ""};
    const std::size_t parts = draft->checks.size();
    for (std::size_t number = 0; number < parts; ++number) {
        const DraftCheck& check = draft->checks[number];
        const ProgressSink part = [&](std::string_view what, double fraction) {
            if (progress)
                progress(what,
                         (static_cast<double>(number) + fraction) / static_cast<double>(parts));
        };
        auto verdict = checked(program, check, reference.name(), stop, part, options);
        if (!verdict)
            return std::unexpected(verdict.error());
        nameReference(*verdict, reference.name());
        if (parts > 1)
            namePart(*verdict, check.line);
        std::vector<Check> before = std::move(generated.verdict.checks);
        generated.verdict = std::move(*verdict);
        generated.verdict.checks.insert(generated.verdict.checks.begin(),
                                        std::make_move_iterator(before.begin()),
                                        std::make_move_iterator(before.end()));
        generated.verdict.before.clear();
        generated.verdict.after.clear();
        if (!generated.acceptable())
            break;
    }
    if (generated.acceptable())
        generated.verdict.summary =
            summaryOf(generated.verdict, reference.name(), parts, draft->numerics);
    for (const auto& [file, edits] : generated.edits) {
        const auto open = program.unsaved.find(file);
        const std::string& before =
            file == program.file || open == program.unsaved.end() ? program.text : open->second;
        if (const auto after = analysis::applyEdits(before, edits))
            generated.diff += analysis::unifiedDiff(file, before, *after);
    }
    return generated;
}

} // namespace kernelskill::engine
