#include "engine/repair/repairer.h"

#include "engine/comparison/text_difference.h"
#include "engine/repair/compile_diagnoser.h"
#include "engine/repair/compile_fixes/fix_candidate.h"
#include "engine/repair/compile_fixes/likeness.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::DiagnosticOrigin;
using analysis::FileModel;

/// The maximum number of guesses for one error; parsing one takes tens of milliseconds.
constexpr std::size_t maxTriesPerError = 40;
constexpr std::size_t maxFixesPerError = 4;
/// The maximum number of errors to repair in a range or file.
constexpr std::size_t maxErrors = 4;
constexpr std::size_t maxRounds = 40;

using Messages = std::multiset<std::string>;

Messages messagesOf(const std::vector<Diagnostic>& errors) {
    Messages messages;
    for (const Diagnostic& error : errors)
        messages.insert(error.message);
    return messages;
}

/// Parses texts of one file and keeps the unit, so that only the first parse is a full one.
class Verifier {
public:
    Verifier(const FileModel& model, const analysis::CompileCommand& command,
             const analysis::Toolchain& toolchain, const analysis::UnsavedFiles& unsaved)
        : file_(model.file), command_(command), toolchain_(toolchain), unsaved_(unsaved) {}

    /// The targets of repair in `text`; nullopt if it cannot be parsed. Findings of the device's
    /// rules need the model, which takes longer.
    std::optional<std::vector<Diagnostic>> targetsOf(const std::string& text, bool withFindings) {
        if (!parse(text))
            return std::nullopt;
        return repairTargets(withFindings ? unit_->model().diagnostics : unit_->diagnostics());
    }
    std::optional<FileModel> modelOf(const std::string& text) {
        if (!parse(text))
            return std::nullopt;
        return unit_->model();
    }

private:
    bool parse(const std::string& text) {
        if (unit_)
            return unit_->reparse(text, unsaved_).has_value();
        auto unit = analysis::TranslationUnit::parse(file_, text, command_, toolchain_, unsaved_);
        if (unit)
            unit_.emplace(std::move(*unit));
        return unit_.has_value();
    }

    std::string file_;
    const analysis::CompileCommand& command_;
    const analysis::Toolchain& toolchain_;
    const analysis::UnsavedFiles& unsaved_;
    std::optional<analysis::TranslationUnit> unit_;
};

std::vector<FixCandidate> candidatesFor(const RepairContext& context, const Diagnostic& error) {
    std::vector<FixCandidate> all;
    if (error.origin == DiagnosticOrigin::Device) {
        for (auto* family : {&atomicFixes, &extentFixes, &hostCodeFixes, &launchLimitFixes,
                             &staticSharedFixes, &warpFunctionFixes})
            std::ranges::move(family(context, error), std::back_inserter(all));
        return all;
    }
    // Families that fix one specific mistake come before those that guess from the context.
    for (auto* family :
         {&attributeFixes, &includeFixes, &aliasFixes, &functionResultFixes, &deviceIdiomFixes,
          &sharedMemoryFixes, &hostCodeFixes, &declarationFixes, &braceFixes, &launchFixes,
          &compilerFixes, &argumentFixes, &templateFixes, &typeFixes, &separatorFixes,
          &punctuationFixes, &statementBracketFixes, &spellingFixes}) {
        auto some = family(context, error);
        std::ranges::move(some, std::back_inserter(all));
    }
    return all;
}

struct Accepted {
    CompileFix fix;
    std::string text;
    Ladder ladder = Ladder::None;
    /// The similarity to the original name; only for candidates of a ladder that takes the most
    /// similar one.
    std::size_t likeness = 0;
};

/// Whether a changed name leaves another error on its line. Such a fix is doubtful, because a wrong
/// name hides other errors.
bool isDoubtful(const RepairContext& context, const FixCandidate& candidate,
                const std::vector<Diagnostic>& left) {
    if (candidate.cause != "misspelled-identifier")
        return false;
    return std::ranges::any_of(left, [&](const Diagnostic& error) {
        return std::ranges::any_of(candidate.edits, [&](const analysis::TextEdit& edit) {
            return context.lineOf(error.span.begin) == context.lineOf(edit.span.begin);
        });
    });
}

/// Keeps one of a ladder's candidates that leave equally few errors: the most similar one, else the
/// first.
void add(std::vector<Accepted>& accepted, Accepted one) {
    if (takesLikest(one.ladder))
        for (Accepted& other : accepted) {
            if (other.ladder != one.ladder)
                continue;
            auto rank = [](const Accepted& ranked) {
                return std::pair(ranked.fix.errorsAfter,
                                 -static_cast<std::int64_t>(ranked.likeness));
            };
            if (rank(one) < rank(other))
                other = std::move(one);
            return;
        }
    accepted.push_back(std::move(one));
}

/// The diagnostics by which a fix for `target` is judged. The device's rules find only a part while
/// there are parse errors, so a parse error is judged by parse errors alone.
std::vector<Diagnostic> comparable(const std::vector<Diagnostic>& all, const Diagnostic& target) {
    std::vector<Diagnostic> some = all;
    if (target.origin == DiagnosticOrigin::Compiler)
        std::erase_if(
            some, [](const Diagnostic& one) { return one.origin != DiagnosticOrigin::Compiler; });
    return some;
}

/// Tries fixes for `target` from guesses at `cause`, which is `target` itself or an earlier error.
void verify(const RepairContext& context, Verifier& verifier, const std::vector<Diagnostic>& errors,
            const Diagnostic& target, const Diagnostic& cause, const std::stop_token& stop,
            std::vector<Accepted>& accepted) {
    const std::vector<Diagnostic> judged = comparable(errors, target);
    const Messages before = messagesOf(judged);
    const bool withFindings = std::ranges::any_of(
        errors, [](const Diagnostic& error) { return error.origin == DiagnosticOrigin::Device; });
    const Likeness likeness(context.text, cause.span.begin);
    std::set<std::string> seen;
    for (const Accepted& other : accepted)
        seen.insert(other.text);
    std::set<Ladder> climbed;
    std::size_t tries = 0;
    for (FixCandidate& candidate : candidatesFor(context, cause)) {
        if (stop.stop_requested() || tries == maxTriesPerError)
            return;
        bool isRanked = takesLikest(candidate.ladder);
        if (climbed.contains(candidate.ladder) ||
            (accepted.size() >= maxFixesPerError && !isRanked))
            continue;
        auto text = analysis::applyEdits(context.text, candidate.edits);
        if (!text || !seen.insert(*text).second)
            continue;
        ++tries;
        auto left = verifier.targetsOf(*text, withFindings);
        if (!left)
            continue;
        const std::vector<Diagnostic> leftOfIts = comparable(*left, target);
        if (leftOfIts.size() >= judged.size())
            continue;
        Messages after = messagesOf(leftOfIts);
        bool isGone = after.count(target.message) < before.count(target.message);
        bool bringsNone = std::ranges::all_of(after, [&](const std::string& message) {
            return after.count(message) <= before.count(message);
        });
        if (!isGone || !bringsNone || isDoubtful(context, candidate, *left))
            continue;
        if (candidate.ladder != Ladder::None && !isRanked)
            climbed.insert(candidate.ladder);
        CompileFix fix;
        fix.failure = {cause, candidate.cause, explainCause(candidate.cause, cause)};
        fix.title = std::move(candidate.title);
        fix.errorsAfter = left->size();
        std::size_t likenessOfText = isRanked ? likeness.of(*text, candidate.edits) : 0;
        fix.edits = {{context.model.file, std::move(candidate.edits)}};
        add(accepted, {std::move(fix), std::move(*text), candidate.ladder, likenessOfText});
    }
}

std::vector<Accepted> fixesFor(const RepairContext& context, Verifier& verifier,
                               const std::vector<Diagnostic>& errors, std::size_t which,
                               const std::stop_token& stop) {
    std::vector<Accepted> accepted;
    verify(context, verifier, errors, errors[which], errors[which], stop, accepted);
    // An error that follows from an earlier one disappears with it.
    if (which > 0 && accepted.empty())
        verify(context, verifier, errors, errors[which], errors.front(), stop, accepted);
    if (accepted.empty())
        return accepted;
    // A fix that leaves more errors than another one only removed a symptom.
    std::size_t fewest = std::ranges::min_element(accepted, {}, [](const Accepted& one) {
                             return one.fix.errorsAfter;
                         })->fix.errorsAfter;
    std::erase_if(accepted, [&](const Accepted& one) { return one.fix.errorsAfter > fewest; });
    accepted.front().fix.isSole = accepted.size() == 1;
    return accepted;
}

bool touches(const Diagnostic& error, const std::string& file, analysis::Span range) {
    return error.file == file && error.span.begin <= range.end && range.begin <= error.span.end;
}

} // namespace

std::vector<CompileFix> proposeFixes(const FileModel& model,
                                     const analysis::CompileCommand& command,
                                     const analysis::Toolchain& toolchain,
                                     std::optional<analysis::Span> range, std::stop_token stop,
                                     const analysis::UnsavedFiles& unsaved) {
    std::vector<CompileFix> fixes;
    auto errors = repairTargets(model.diagnostics);
    if (errors.empty() || !model.source)
        return fixes;
    RepairContext context = makeRepairContext(model, command, toolchain);
    Verifier verifier(model, command, toolchain, unsaved);
    std::set<std::string> texts;
    std::size_t looked = 0;
    for (std::size_t which = 0; which < errors.size() && looked < maxErrors; ++which) {
        if (range && !touches(errors[which], model.file, *range))
            continue;
        ++looked;
        for (Accepted& accepted : fixesFor(context, verifier, errors, which, stop)) {
            if (texts.insert(accepted.text).second)
                fixes.push_back(std::move(accepted.fix));
        }
        if (stop.stop_requested())
            break;
    }
    return fixes;
}

Repair repairFile(const FileModel& model, const analysis::CompileCommand& command,
                  const analysis::Toolchain& toolchain, std::stop_token stop,
                  const analysis::UnsavedFiles& unsaved) {
    Repair repair;
    repair.text = model.source ? model.source->text() : std::string{};
    FileModel current = model;
    auto errors = repairTargets(current.diagnostics);
    repair.errorsBefore = errors.size();
    Verifier verifier(model, command, toolchain, unsaved);
    for (std::size_t round = 0; round < maxRounds && !errors.empty() && !stop.stop_requested();
         ++round) {
        RepairContext context = makeRepairContext(current, command, toolchain);
        std::vector<Accepted> accepted;
        for (std::size_t which = 0; which < std::min(errors.size(), maxErrors) && accepted.empty();
             ++which)
            accepted = fixesFor(context, verifier, errors, which, stop);
        if (accepted.empty())
            break;
        repair.text = std::move(accepted.front().text);
        repair.applied.push_back(std::move(accepted.front().fix));
        auto next = verifier.modelOf(repair.text);
        if (!next)
            break;
        current = std::move(*next);
        errors = repairTargets(current.diagnostics);
    }
    repair.errorsAfter = errors.size();
    if (!repair.applied.empty())
        repair.edits = {{model.file, textDifference(model.source->text(), repair.text)}};
    return repair;
}

} // namespace kernelskill::engine
