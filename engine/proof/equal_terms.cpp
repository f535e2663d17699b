#include "engine/proof/equal_terms.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace kernelskill::engine {

namespace {

constexpr std::size_t sampleCount = 96;
/// The min number of samples on which the facts must hold before terms are compared under them.
constexpr std::size_t minSamples = 2;
/// The max number of terms that agree on the samples and are then compared by a proof.
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

/// A number of the range. Most are small, because kernels distinguish most cases there.
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

EqualTerms::Fingerprint EqualTerms::fingerprintOf(Term term) {
    Fingerprint fingerprint;
    for (TermValues& sample : samples_)
        fingerprint.push_back(sample.valueOf(term));
    return fingerprint;
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

std::optional<Term> EqualTerms::equalUnder(Term term, const Fingerprint& fingerprint,
                                           const Facts& facts) {
    const std::vector<std::size_t> samples = samplesWith(facts);
    if (samples.size() < minSamples)
        return std::nullopt;
    int tried = 0;
    for (const auto& [other, itsFingerprint] : noted_) {
        const bool agrees =
            other != term && std::ranges::all_of(samples, [&](std::size_t sample) {
                return fingerprint[sample] && fingerprint[sample] == itsFingerprint[sample];
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
    const Fingerprint fingerprint = fingerprintOf(truth);
    const std::vector<std::size_t> samples = samplesWith(facts);
    const auto agrees = [&](const Fingerprint& other, bool isNegated) {
        return std::ranges::all_of(samples, [&](std::size_t sample) {
            return fingerprint[sample] && other[sample] &&
                   (*fingerprint[sample] != 0) == ((*other[sample] != 0) != isNegated);
        });
    };
    // A truth value that is the same in all samples agrees with too many others to be compared.
    const bool isMixed = std::ranges::any_of(samples, [&](std::size_t sample) {
        return fingerprint[sample].has_value() &&
               fingerprint[sample] != fingerprint[samples.front()];
    });
    Term result = truth;
    int tried = 0;
    for (std::size_t i = 0; isMixed && result == truth && i < notedTruths_.size(); ++i) {
        const auto& [other, itsFingerprint] = notedTruths_[i];
        const bool isNegated = agrees(itsFingerprint, true);
        if (other == truth || (!isNegated && !agrees(itsFingerprint, false)))
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
        notedTruths_.emplace_back(truth, fingerprint);
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
    const Fingerprint fingerprint = fingerprintOf(term);
    if (!everywhere_.contains(term)) {
        const auto equal = equalUnder(term, fingerprint, {});
        everywhere_.emplace(term, equal.value_or(term));
        if (equal)
            return *equal;
        noted_.emplace_back(term, fingerprint);
    }
    const Term result = facts.empty() ? term : equalUnder(term, fingerprint, facts).value_or(term);
    underFacts_.emplace(std::pair(term, facts), result);
    return result;
}

} // namespace kernelskill::engine
