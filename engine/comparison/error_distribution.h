/// The distribution of two kernels' errors against the same reference, over many runs.
#pragma once

#include "engine/execution/profile.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Errors in units in the last place of the output's type.
struct ErrorMoments {
    std::uint64_t count = 0;
    /// The largest magnitude, relative to the reference's, or to the output's usual scale where
    /// that is larger.
    double largest = 0;

    /// `error` in units of `base`, the reference's magnitude or the run's scale, positive where the
    /// result is further from zero; `weight`: the reference's part of `base`.
    void add(double error, double weight);
    /// The part by which all results are off alike: the slope of the errors over the reference.
    [[nodiscard]] double bias() const;
    /// The deviation of a single error from it.
    [[nodiscard]] double spread() const;
    /// The standard error of the bias.
    [[nodiscard]] double doubt() const;
    /// The number of results as large as their scale that would tell as much.
    [[nodiscard]] double evidence() const { return weights_; }

private:
    double weights_ = 0; ///< Sums of squares and of products.
    double products_ = 0;
    double errors_ = 0;
};

/// Results far below the scale of their output, of one power of two.
struct SmallResults {
    std::uint64_t kept = 0;   ///< By the original.
    std::uint64_t missed = 0; ///< The original is too far from the reference to tell.
    std::uint64_t lost = 0;   ///< The candidate does not keep so many of them.
    double relativeError = 0; ///< The largest of the original, where it keeps them.
    /// How many of those that the original keeps have which relative error in the candidate, by
    /// the exponent of the error's power of two.
    std::map<int, std::uint64_t> candidateErrors;

    /// The number of results that the original keeps and of which the candidate is further from
    /// the reference than `relativeError` of them, to a factor of two.
    [[nodiscard]] std::uint64_t furtherThan(double relativeError) const;
};

/// The errors of one output, its parts included. Results that both kernels compute exactly do not
/// count.
struct OutputErrors {
    std::string buffer;
    double unit = 0;  ///< A unit in the last place, relative.
    double scale = 0; ///< The largest scale of a run.
    ErrorMoments original;
    ErrorMoments candidate;
    double allowed = 0; ///< What the run with the candidate's largest error allowed, in units.
    std::map<int, SmallResults> small; ///< By the exponent of the reference's magnitude.
};

class ErrorDistribution {
public:
    /// Adds the finite floating-point results of one run. The outputs are those of a comparison
    /// that agreed; the reference may have a wider type. `scales`: the usual root mean square by
    /// buffer, may lack some. `allowed`: the largest scaled error that the comparison allowed.
    void add(const std::vector<BufferContents>& reference,
             const std::vector<BufferContents>& original,
             const std::vector<BufferContents>& candidate,
             const std::map<std::string, double>& scales, double allowed);

    [[nodiscard]] const std::vector<OutputErrors>& outputs() const { return outputs_; }

private:
    OutputErrors& errorsOf(const BufferContents& output);

    std::vector<OutputErrors> outputs_;
};

} // namespace kernelskill::engine
