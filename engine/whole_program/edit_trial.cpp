#include "engine/whole_program/edit_trial.h"

#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <ranges>

namespace kernelskill::engine {
namespace {

class Trial {
public:
    Trial(const std::vector<KernelEdits>& kernels, TrialProgram& program)
        : kernels_(kernels), program_(program) {}

    Result<EditOutcome> run() {
        EditOutcome outcome;
        for (std::size_t i = 0; i < kernels_.size(); ++i)
            outcome.kept.push_back(i);
        KERNELSKILL_CHECK(keepPassing(outcome));
        while (!outcome.kept.empty()) {
            KERNELSKILL_TRY(auto timed, program_.time());
            outcome.turns = std::move(timed.turns);
            if (timed.failure)
                takeBackLeast(outcome, *timed.failure);
            else if (!takeBackWhatDoesNotPay(outcome))
                break;
            outcome.turns = {};
            KERNELSKILL_CHECK(keepPassing(outcome));
        }
        std::ranges::sort(outcome.kept);
        std::ranges::sort(outcome.takenBack, {}, &TakenBack::at);
        return outcome;
    }

private:
    /// Tries the edits of these kernels; returns what fails.
    Result<std::optional<std::string>> tryKernels(const std::vector<std::size_t>& indices) {
        const auto edits = joinedEdits(kernels_, indices);
        if (!edits)
            return edits.error().describe();
        return program_.tryEdits(*edits);
    }

    /// Takes back what does not pass. The program then has the edits that are kept.
    Result<void> keepPassing(EditOutcome& outcome) {
        auto& kept = outcome.kept;
        std::ranges::sort(kept, std::ranges::greater{},
                          [&](std::size_t at) { return kernels_[at].gain; });
        std::vector<std::size_t> waiting; // Taken back, the last for its own fault.
        std::string lastFailure;
        while (!kept.empty()) {
            KERNELSKILL_TRY(const auto failure, tryKernels(kept));
            if (!failure)
                break;
            lastFailure = *failure;
            waiting.push_back(kept.back());
            kept.pop_back();
        }
        if (waiting.empty())
            return {};
        outcome.takenBack.push_back({waiting.back(), lastFailure});
        waiting.pop_back();
        bool isBuilt = true; // With what is kept.
        for (const std::size_t at : std::views::reverse(waiting)) {
            kept.push_back(at);
            KERNELSKILL_TRY(const auto failure, tryKernels(kept));
            isBuilt = !failure.has_value();
            if (isBuilt)
                continue;
            kept.pop_back();
            outcome.takenBack.push_back({at, *failure});
        }
        if (isBuilt || kept.empty())
            return {};
        KERNELSKILL_TRY(const auto failure, tryKernels(kept));
        if (failure)
            return std::unexpected(
                Error{ErrorKind::Failed, "the program passes and fails with the same edits",
                      *failure, "give a --check that the unchanged program always passes"});
        return {};
    }

    /// Takes back the kernel with the least gain.
    void takeBackLeast(EditOutcome& outcome, std::string why) const {
        const auto least = std::ranges::min_element(
            outcome.kept, {}, [&](std::size_t at) { return kernels_[at].gain; });
        outcome.takenBack.push_back({*least, std::move(why)});
        outcome.kept.erase(least);
    }

    /// Whether there was one to take back.
    [[nodiscard]] bool takeBackWhatDoesNotPay(EditOutcome& outcome) const {
        const auto whole = outcome.turns.gpu();
        const auto doesNotPay = [&](std::size_t at) {
            const auto pairs =
                outcome.turns.ofKernel(kernels_[at].kernel, addedNames(kernels_[at]));
            const auto speedup = speedupOf(pairs);
            if (isFaster(speedup ? pairs : whole))
                return false;
            outcome.takenBack.push_back(
                {at, speedup ? fmt::format("in the program the kernel is {:.2f} times as fast as "
                                           "before: no gain beyond the noise",
                                           *speedup)
                             : "in the program it is not launched, and all work of the GPU "
                               "together is not faster"});
            return true;
        };
        if (std::erase_if(outcome.kept, doesNotPay) > 0)
            return true;
        if (!isSlower(whole))
            return false;
        takeBackLeast(outcome,
                      fmt::format("all work of the GPU together is {:.2f} times as fast as before",
                                  *speedupOf(whole)));
        return true;
    }

    const std::vector<KernelEdits>& kernels_;
    TrialProgram& program_;
};

} // namespace

Result<analysis::EditSet> joinedEdits(const std::vector<KernelEdits>& kernels,
                                      const std::vector<std::size_t>& indices) {
    analysis::EditSet joined;
    for (const std::size_t at : indices)
        for (const auto& [file, edits] : kernels[at].edits) {
            auto& all = joined[file];
            const auto ofOthers = all;
            for (const analysis::TextEdit& edit : edits) {
                if (std::ranges::find(ofOthers, edit) != ofOthers.end())
                    continue;
                const bool isOverlapping =
                    std::ranges::any_of(ofOthers, [&](const analysis::TextEdit& other) {
                        return edit.span.begin < other.span.end && other.span.begin < edit.span.end;
                    });
                if (isOverlapping)
                    return std::unexpected(Error{
                        ErrorKind::InvalidInput,
                        fmt::format("its edits overlap with those of another kernel in {}", file),
                        {},
                        {}});
                all.push_back(edit);
            }
        }
    return joined;
}

std::set<std::string> addedNames(const KernelEdits& kernel) {
    std::set<std::string> names;
    for (const auto& [file, edits] : kernel.edits)
        for (const analysis::TextEdit& edit : edits)
            for (const analysis::Token& token : analysis::lex(edit.newText))
                if (token.kind == analysis::TokenKind::Identifier)
                    names.emplace(token.text);
    return names;
}

Result<EditOutcome> runTrial(const std::vector<KernelEdits>& kernels, TrialProgram& program) {
    return Trial(kernels, program).run();
}

} // namespace kernelskill::engine
