#include "analysis/nest/builder.h"

#include <algorithm>
#include <utility>

namespace kernelskill::analysis {

namespace {

/// m where `a` is m times `b`, m an integer.
std::optional<std::int64_t> multipleOf(const IndexExpression& a, const IndexExpression& b) {
    if (b.terms().empty())
        return std::nullopt;
    const auto& [monomial, coefficient] = *b.terms().begin();
    const auto found = a.terms().find(monomial);
    if (found == a.terms().end())
        return a.terms().empty() ? std::optional<std::int64_t>(0) : std::nullopt;
    if (found->second % coefficient != 0)
        return std::nullopt;
    const std::int64_t factor = found->second / coefficient;
    return IndexExpression::constant(factor) * b == a ? std::optional(factor) : std::nullopt;
}

} // namespace

/// Gives the variables that a round moves by a fixed amount their value in terms of the iterator.
void NestBuilder::bindInductions(const NestLoop& loop,
                                 const std::map<VariableId, IndexExpression>& steps,
                                 const State& before) {
    const IndexExpression iterator = IndexExpression::symbol(loop.iterator);
    if (loop.variable != noId)
        set({frame_, loop.variable, ""}, {iterator, std::nullopt});
    for (const auto& [variable, step] : steps) {
        if (variable == loop.variable)
            continue;
        const auto start = before.find({frame_, variable, ""});
        NestFollowed initial = start != before.end() ? start->second : NestFollowed{};
        // The number of rounds so far, times the step.
        std::optional<IndexExpression> distance;
        if (loop.variable == noId) {
            distance = nest_.symbols.product(iterator, step);
        } else if (loop.first && loop.step) {
            const IndexExpression passed = iterator - *loop.first;
            if (const auto by = loop.step->asConstant(); by == 1)
                distance = nest_.symbols.product(passed, step);
            else if (by == -1)
                distance = nest_.symbols.product(IndexExpression::constant(-1) * passed, step);
            else if (const auto factor = multipleOf(step, *loop.step))
                distance = IndexExpression::constant(*factor) * passed;
            else if (by)
                distance = nest_.symbols.product(nest_.symbols.quotient(passed, *loop.step), step);
        }
        if (!distance)
            continue;
        if (initial.integer)
            set({frame_, variable, ""}, {*initial.integer + *distance, std::nullopt});
        else if (initial.address && initial.address->offset) {
            initial.address = moved(std::move(*initial.address), *distance);
            set({frame_, variable, ""}, std::move(initial));
        }
    }
}

/// Sets the values of variables after the loop: the sum of its steps, or a new unknown value.
void NestBuilder::afterLoop(const NestLoop& loop,
                            const std::map<VariableId, IndexExpression>& steps, const State& before,
                            const std::set<VariableId>& changed) {
    std::optional<IndexExpression> rounds;
    if (!loop.mayStop && loop.first && loop.end && loop.step) {
        const auto by = loop.step->asConstant();
        if (by == 1)
            rounds = nest_.symbols.result("max", *loop.end - *loop.first, IndexExpression{});
        if (const auto known = (*loop.end - *loop.first).asConstant(); known && by && *by != 0)
            rounds = IndexExpression::constant(
                std::max<std::int64_t>(0, (*known + *by + (*by > 0 ? -1 : 1)) / *by));
    }
    for (const VariableId variable : changed) {
        const Variable& declared = body().variable(variable);
        if (frames_[frame_].aliases.contains(variable) || !isFollowed(declared.type))
            continue;
        const NestVariableKey key{frame_, variable, ""};
        const auto start = before.find(key);
        const auto step = steps.find(variable);
        const auto distance = rounds && step != steps.end()
                                  ? nest_.symbols.product(*rounds, step->second)
                                  : std::nullopt;
        if (start != before.end() && start->second.integer && distance) {
            set(key, {*start->second.integer + *distance, std::nullopt});
        } else if (start != before.end() && start->second.address &&
                   start->second.address->offset && distance) {
            set(key, {std::nullopt, moved(*start->second.address, *distance)});
        } else {
            const NestFollowed* now = known(key);
            const bool isElsewhere = start != before.end() && start->second.address &&
                                     now != nullptr && now->address &&
                                     now->address->array != start->second.address->array;
            forget(key);
            if (isElsewhere) { // Where no round has run, it is where it was.
                NestAddress address;
                address.reason = "a pointer that the loop sets to others";
                set(key, {std::nullopt, std::move(address)});
            }
        }
    }
}

} // namespace kernelskill::analysis
