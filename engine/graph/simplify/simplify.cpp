#include "analysis/raise/fusion.h"
#include "engine/graph/simplify/rules.h"
#include "engine/graph/simplify/simplification.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kernelskill::engine::graph {

namespace raise = analysis::raise;

namespace {

std::vector<Challenge> allChallenges() {
    return {Challenge::Usual, Challenge::Cancelling, Challenge::OneSign,    Challenge::Tiny,
            Challenge::Zeros, Challenge::Mixed,      Challenge::NotANumber, Challenge::Infinite};
}

/// The obligation of rules that hold as long as all inputs are finite.
std::vector<Challenge> finiteChallenges() {
    return {Challenge::Usual, Challenge::Cancelling, Challenge::OneSign,
            Challenge::Tiny,  Challenge::Zeros,      Challenge::Mixed};
}

/// The obligation of rules that take sums in another order: NaN stays, and Inf can become NaN or
/// the other way.
std::vector<Challenge> reorderingChallenges() {
    std::vector<Challenge> challenges = finiteChallenges();
    challenges.push_back(Challenge::NotANumber);
    return challenges;
}

std::map<raise::BufferId, double> constantOutputs(const raise::Program& program) {
    std::map<raise::BufferId, double> constants;
    std::map<raise::BufferId, std::size_t> stores;
    for (const raise::Step& step : program.steps)
        if (const auto* computation = std::get_if<raise::Computation>(&step))
            for (const raise::Store& store : computation->stores) {
                ++stores[store.buffer];
                const auto value = raise::numberOf(store.value);
                if (value && program.buffers[store.buffer].role == raise::Buffer::Role::Output)
                    constants[store.buffer] = *value;
            }
    std::erase_if(constants, [&](const auto& entry) { return stores[entry.first] != 1; });
    return constants;
}

} // namespace

std::vector<SimplificationKind> simplificationKinds() {
    constexpr double exact = 0;
    constexpr double rounding = 1e-9;
    return {
        {"known-constants",
         "Constants that the archive holds are numbers.",
         {allChallenges(), exact, true}},
        {"reductions-of-one",
         "A reduction of one element is that element.",
         {allChallenges(), exact, true}},
        {"equal-terms",
         "A reduction of equal terms is one of them, or their number times it.",
         {allChallenges(), rounding, true}},
        {"redundant-bounds",
         "A bound that a value cannot pass is left out.",
         {allChallenges(), exact, true}},
        {"constant-values",
         "A value that is the same whatever the inputs is a number.",
         {finiteChallenges(), exact, true}},
        {"self-difference", "A value minus itself is 0.", {finiteChallenges(), exact, true}},
        {"inverse-functions",
         "A logarithm of an exponential is what it was of.",
         {finiteChallenges(), rounding, false}},
        {"sum-over-linear",
         "A sum over the outputs of a linear layer is one output, of summed weights.",
         {reorderingChallenges(), rounding, true}},
        {"linear-after-linear",
         "Two linear layers without anything between are one, of multiplied weights.",
         {reorderingChallenges(), rounding, true}},
        {"mean-of-convolution",
         "A sum over the places of a convolution is one of sums of its input.",
         {reorderingChallenges(), rounding, true}},
        {"pool-into-convolution",
         "A sum over windows of a convolution is a wider kernel, of summed weights.",
         {reorderingChallenges(), rounding, true}},
        {"batch-norm-folding",
         "The scale of a normalisation by known statistics is part of the weights before it.",
         {allChallenges(), rounding, true}},
        {"shifted-variance",
         "A variance is formed in the pass that forms the mean, around the first element.",
         {reorderingChallenges(), rounding, true}},
        {"scale-into-weights",
         "Factors behind a sum of products are part of its weights.",
         {allChallenges(), rounding, true}},
    };
}

SimplifiedProgram simplified(raise::Program program, const SimplifyOptions& options) {
    const IsUsed isUsed = [&](std::string_view name) {
        return !options.off.contains(std::string(name));
    };
    SimplifiedProgram result{std::move(program), {}, {}};
    const auto add = [&](Done done) {
        std::ranges::move(done, std::back_inserter(result.simplifications));
        return !done.empty();
    };
    if (isUsed("known-constants"))
        add(useConstants(result.program, options.constants));
    result.program = raise::fused(std::move(result.program));
    // Each simplification leaves less to do; the number of rounds is a guard.
    constexpr int mostRounds = 16;
    for (int round = 0; round < mostRounds; ++round) {
        const bool changed =
            add(simplifyValues(result.program, isUsed)) || add(swapSums(result.program, isUsed)) ||
            add(foldScales(result.program, isUsed)) || add(shiftVariances(result.program, isUsed));
        if (!changed)
            break;
        result.program = raise::fused(std::move(result.program));
    }
    result.program = withPreparedValues(std::move(result.program));
    result.constantOutputs = constantOutputs(result.program);
    return result;
}

} // namespace kernelskill::engine::graph
