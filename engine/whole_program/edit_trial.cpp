#include "engine/whole_program/edit_trial.h"

#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

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
        if (const auto tried = tryAll(outcome); !tried) {
            if (tried.error().kind != ErrorKind::Cancelled)
                return std::unexpected(tried.error());
            outcome.notDone = isPassing_ ? "the program was not timed with them"
                                         : "the program was not built and checked with them";
        }
        std::ranges::sort(outcome.kept);
        std::ranges::sort(outcome.takenBack, {}, &TakenBack::at);
        return outcome;
    }

private:
    Result<void> tryAll(EditOutcome& outcome) {
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
        return {};
    }

    /// Tries the edits of these kernels; returns what fails.
    Result<std::optional<std::string>> tryKernels(const std::vector<std::size_t>& indices) {
        const auto edits = joinedEdits(kernels_, indices);
        if (!edits)
            return edits.error().describe();
        return program_.tryEdits(*edits);
    }

    /// Where a kernel stands among others: that with the most gain first, and each behind its base,
    /// above whose gain its own does not count.
    struct Rank {
        double loss = 0; ///< The gain, negated.
        std::size_t bases = 0;
        std::size_t at = 0;
        auto operator<=>(const Rank&) const = default;
    };
    [[nodiscard]] Rank rank(std::size_t at) const {
        const KernelEdits& kernel = kernels_[at];
        if (!kernel.base)
            return {-kernel.gain, 0, at};
        const Rank base = rank(*kernel.base);
        return {std::max(-kernel.gain, base.loss), base.bases + 1, at};
    }

    /// The last of the kept kernels that this one is a base of; else itself.
    [[nodiscard]] std::size_t lastBuiltOn(std::size_t at,
                                          const std::vector<std::size_t>& kept) const {
        const auto next = std::ranges::find_if(
            kept, [&](std::size_t other) { return kernels_[other].base == at; });
        return next == kept.end() ? at : lastBuiltOn(*next, kept);
    }

    /// Takes back what does not pass. The program then has the edits that are kept.
    Result<void> keepPassing(EditOutcome& outcome) {
        auto& kept = outcome.kept;
        isPassing_ = false;
        std::ranges::sort(kept, {}, [&](std::size_t at) { return rank(at); });
        std::vector<std::size_t> waiting; // Taken back, the last for its own fault.
        std::string lastFailure;
        while (!kept.empty()) {
            const auto failure = tryKernels(kept);
            if (!failure)
                return stopped(outcome, waiting, lastFailure, failure.error());
            if (!*failure)
                break;
            lastFailure = **failure;
            waiting.push_back(kept.back());
            kept.pop_back();
        }
        isPassing_ = true;
        if (waiting.empty())
            return {};
        outcome.takenBack.push_back({waiting.back(), lastFailure});
        waiting.pop_back();
        bool isBuilt = true; // With what is kept.
        while (!waiting.empty()) {
            const std::size_t at = waiting.back();
            if (const auto base = kernels_[at].base;
                base && std::ranges::find(kept, *base) == kept.end()) {
                outcome.takenBack.push_back({at, "the edits that it builds on were taken back"});
                waiting.pop_back();
                continue;
            }
            kept.push_back(at);
            const auto failure = tryKernels(kept);
            if (!failure) {
                kept.pop_back();
                return stopped(outcome, waiting, lastFailure, failure.error());
            }
            waiting.pop_back();
            isBuilt = !failure->has_value();
            if (isBuilt)
                continue;
            kept.pop_back();
            outcome.takenBack.push_back({at, **failure});
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

    /// Takes back those that wait for another chance: each of them may be at fault.
    static std::unexpected<Error> stopped(EditOutcome& outcome,
                                          const std::vector<std::size_t>& waiting,
                                          const std::string& failure, const Error& why) {
        for (const std::size_t at : waiting)
            outcome.takenBack.push_back({at, failure});
        return std::unexpected(why);
    }

    /// Takes back the kernel with the least gain.
    void takeBackLeast(EditOutcome& outcome, std::string why) const {
        const auto least =
            std::ranges::max_element(outcome.kept, {}, [&](std::size_t at) { return rank(at); });
        outcome.takenBack.push_back({*least, std::move(why)});
        outcome.kept.erase(least);
    }

    /// Says why the kernel's edits do not pay in the program; nullopt if they do.
    [[nodiscard]] std::optional<std::string> whyNotPaid(std::size_t at, const ProgramTurns& turns,
                                                        std::span<const TimePair> whole) const {
        const KernelEdits& kernel = kernels_[at];
        if (kernel.subject == EditSubject::PayingHost)
            return std::nullopt;
        if (kernel.subject == EditSubject::Host)
            return whyHostNotPaid(turns, whole);
        const auto pairs = timesOf(kernel, turns);
        const auto speedup = speedupOf(pairs);
        if (!isFaster(speedup ? std::span<const TimePair>(pairs) : whole))
            return speedup ? fmt::format("in the program the kernel is {:.2f} times as fast as "
                                         "before: no gain beyond the noise",
                                         *speedup)
                           : "in the program it is not launched, and all work of the GPU together "
                             "is not faster";
        for (const std::string& other : kernel.others)
            if (const auto slower = turns.ofSymbol(other); isSlower(slower))
                return fmt::format(
                    "in the program another instantiation of it, {}, is {:.2f} times "
                    "as fast as before",
                    demangledName(other), *speedupOf(slower));
        return std::nullopt;
    }

    /// Says why edits of the host's code do not pay in the program; nullopt if they do.
    [[nodiscard]] static std::optional<std::string> whyHostNotPaid(const ProgramTurns& turns,
                                                                   std::span<const TimePair> work) {
        const auto spans = turns.spans();
        if (isFaster(work) || isFasterInEachTurn(spans))
            return std::nullopt;
        return fmt::format(
            "all work of the GPU together is {:.2f} times as fast as before, and {:.2f} times with "
            "the "
            "idle times between its first work and its last: no gain beyond the noise",
            speedupOf(work).value_or(1), speedupOf(spans).value_or(1));
    }

    /// Whether there was one to take back.
    [[nodiscard]] bool takeBackWhatDoesNotPay(EditOutcome& outcome) const {
        const auto whole = outcome.turns.gpuWithoutSameCopies();
        std::vector<TakenBack> unpaid;
        for (const std::size_t at : outcome.kept) {
            auto why = whyNotPaid(at, outcome.turns, whole);
            const std::size_t last = lastBuiltOn(at, outcome.kept);
            if (why && std::ranges::find(unpaid, last, &TakenBack::at) == unpaid.end())
                unpaid.push_back({last, (last == at ? "" : "with another instantiation's edits: ") +
                                            std::move(*why)});
        }
        for (TakenBack& back : unpaid) {
            std::erase(outcome.kept, back.at);
            outcome.takenBack.push_back(std::move(back));
        }
        if (!unpaid.empty())
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
    bool isPassing_ = false; ///< Whether the program has passed with the edits that are kept.
};

} // namespace

Result<analysis::EditSet> joinedEdits(const std::vector<KernelEdits>& kernels,
                                      const std::vector<std::size_t>& indices) {
    analysis::EditSet joined;
    const auto isInAnother = [&](std::size_t at) {
        return std::ranges::any_of(indices,
                                   [&](std::size_t other) { return kernels[other].base == at; });
    };
    for (const std::size_t at : indices) {
        if (isInAnother(at))
            continue;
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

std::vector<TimePair> timesOf(const KernelEdits& kernel, const ProgramTurns& turns) {
    return kernel.symbol.empty() ? turns.ofKernel(kernel.kernel, addedNames(kernel))
                                 : turns.ofInstantiation(kernel.symbol, addedNames(kernel));
}

double speedupByHost(const ProgramTurns& turns) {
    const auto work = turns.gpuWithoutSameCopies();
    return speedupOf(isFaster(work) ? work : turns.spans()).value_or(1);
}

Result<EditOutcome> runTrial(const std::vector<KernelEdits>& kernels, TrialProgram& program) {
    return Trial(kernels, program).run();
}

} // namespace kernelskill::engine
