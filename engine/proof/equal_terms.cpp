#include "engine/proof/equal_terms.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace kernelskill::engine {

namespace {

constexpr std::size_t sampleCount = 96;
/// Facts that fewer samples meet tell too little of what is equal under them.
constexpr std::size_t minSamples = 2;
/// Terms that agree on all samples that meet the facts, and are decided one after the other.
constexpr int maxCandidates = 3;

std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
}

std::uint64_t hashOf(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char letter : text)
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    return hash;
}

/// A number of the range, mostly a small one, for which kernels have most of their cases.
Wide sampled(std::uint64_t hash, std::size_t sample, const IntegerRange& range) {
    constexpr std::array<Wide, 6> scales{3, 17, 70, 1100, Wide{1} << 20, (Wide{1} << 40) - 1};
    const std::uint64_t random = mixed(hash);
    const Wide size = static_cast<Wide>(random >> 1U) % (scales.at(sample % scales.size()) + 1);
    const bool isNegative = range.low < 0 && (mixed(random) & 3U) == 0;
    return std::clamp(isNegative ? -size : std::max<Wide>(range.low, 0) + size, range.low,
                      range.high);
}

} // namespace

EqualTerms::EqualTerms(TermTable& terms, IntegerFacts& integers)
    : terms_(terms), integers_(integers) {
    for (std::size_t sample = 0; sample < sampleCount; ++sample)
        samples_.emplace_back(terms, [&terms, sample](Term term, const std::vector<Wide>& values) {
            std::uint64_t hash = mixed(hashOf(terms.functionOf(term)) + sample);
            for (const Wide value : values)
                hash = mixed(hash ^ static_cast<std::uint64_t>(value));
            return std::optional(sampled(hash, sample, terms.range(term, {})));
        });
}

EqualTerms::Print EqualTerms::printOf(Term term) {
    Print print;
    for (TermValues& sample : samples_)
        print.push_back(sample.valueOf(term));
    return print;
}

bool EqualTerms::areEqual(Term one, Term other, const Facts& facts) {
    return integers_.implies(facts, terms_.isZero(terms_.subtract(one, other), {}));
}

std::vector<std::size_t> EqualTerms::samplesWith(const Facts& facts) {
    std::vector<std::size_t> found;
    for (std::size_t sample = 0; sample < samples_.size(); ++sample)
        if (std::ranges::all_of(
                facts, [&](Term fact) { return samples_[sample].valueOf(fact).value_or(0) != 0; }))
            found.push_back(sample);
    return found;
}

std::optional<Term> EqualTerms::equalUnder(Term term, const Print& print, const Facts& facts) {
    const std::vector<std::size_t> samples = samplesWith(facts);
    if (samples.size() < minSamples)
        return std::nullopt;
    int tried = 0;
    for (const auto& [other, itsPrint] : noted_) {
        const bool agrees = other != term && std::ranges::all_of(samples, [&](std::size_t sample) {
                                return print[sample] && print[sample] == itsPrint[sample];
                            });
        if (!agrees)
            continue;
        if (areEqual(term, other, facts))
            return other;
        if (++tried == maxCandidates)
            break;
    }
    return std::nullopt;
}

bool EqualTerms::areEqualTruths(Term one, Term other, const Facts& facts) {
    const auto implies = [&](Term truth, Term wanted) {
        Facts all = facts;
        all.push_back(truth);
        return integers_.implies(all, wanted);
    };
    return implies(one, other) && implies(other, one);
}

Term EqualTerms::firstEqualTruth(Term truth, const Facts& facts) {
    if (truth == terms_.truth(true) || truth == terms_.truth(false))
        return truth;
    if (const auto known = truths_.find({truth, facts}); known != truths_.end())
        return known->second;
    const Print print = printOf(truth);
    const std::vector<std::size_t> samples = samplesWith(facts);
    const auto agrees = [&](const Print& other, bool isNegated) {
        return std::ranges::all_of(samples, [&](std::size_t sample) {
            return print[sample] && other[sample] &&
                   (*print[sample] != 0) == ((*other[sample] != 0) != isNegated);
        });
    };
    // What is always true, or never, in the samples is like anything else that is.
    const bool isMixed = std::ranges::any_of(samples, [&](std::size_t sample) {
        return print[sample].has_value() && print[sample] != print[samples.front()];
    });
    Term result = truth;
    int tried = 0;
    for (std::size_t i = 0; isMixed && result == truth && i < notedTruths_.size(); ++i) {
        const auto& [other, itsPrint] = notedTruths_[i];
        const bool isNegated = agrees(itsPrint, true);
        if (other == truth || (!isNegated && !agrees(itsPrint, false)))
            continue;
        const Term wanted = isNegated ? terms_.negation(other) : other;
        if (wanted == truth)
            break;
        if (areEqualTruths(truth, wanted, facts))
            result = wanted;
        else if (++tried == maxCandidates)
            break;
    }
    if (result == truth)
        notedTruths_.emplace_back(truth, print);
    truths_.emplace(std::pair(truth, facts), result);
    return result;
}

Term EqualTerms::firstEqual(Term term, const Facts& facts) {
    if (terms_.constant(term))
        return term;
    if (const auto known = everywhere_.find(term);
        known != everywhere_.end() && known->second != term)
        return known->second;
    if (const auto known = underFacts_.find({term, facts}); known != underFacts_.end())
        return known->second;
    const Print print = printOf(term);
    if (!everywhere_.contains(term)) {
        const auto equal = equalUnder(term, print, {});
        everywhere_.emplace(term, equal.value_or(term));
        if (equal)
            return *equal;
        noted_.emplace_back(term, print);
    }
    const Term result = facts.empty() ? term : equalUnder(term, print, facts).value_or(term);
    underFacts_.emplace(std::pair(term, facts), result);
    return result;
}

} // namespace kernelskill::engine
