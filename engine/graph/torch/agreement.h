/// How far tensors agree. Everything is computed on the tensors' device, piece by piece: beside
/// them it needs less than a gigabyte.
#pragma once

#include "engine/graph/torch/aten.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// The elements of two tensors next to each other, by torch.allclose's rule with rtol = atol.
struct Agreement {
    /// The largest of |found - expected| / (scale + |expected|). 0 where both are NaN or the same
    /// infinity; infinite where one is not finite, or integers differ.
    double error = 0;
    double difference = 0;        ///< The largest |found - expected|; infinite as above.
    std::int64_t beyondLoose = 0; ///< Elements whose error is above looseTolerance.
    std::int64_t beyondTight = 0;
    std::int64_t nearLoose = 0; ///< Elements whose error is above a share of looseTolerance.
    std::int64_t nearTight = 0;
    std::int64_t worst = 0; ///< Index of the largest error, in row-major order.
    double found = 0;       ///< The element there.
    double expected = 0;
};

/// Compares tensors of one shape. With a `scale` of 1 the rule is torch's; another one multiplies
/// atol. `share` is that of `nearLoose` and `nearTight`. Waits for the current stream.
[[nodiscard]] Agreement agreementOf(const at::Tensor& found, const at::Tensor& expected,
                                    double scale = 1, double share = 1);

/// The root of the mean square; nullopt for integers, without elements, and if one is not finite.
[[nodiscard]] std::optional<double> magnitudeOf(const at::Tensor& tensor);

/// "[3, 7]"
[[nodiscard]] std::string placeText(std::int64_t element, at::IntArrayRef sizes);

/// A number that differs, but for a chance of about 2^-64, if a bit of the tensor does. Waits for
/// the current stream.
[[nodiscard]] std::int64_t checksum(const at::Tensor& tensor);
[[nodiscard]] std::vector<std::int64_t> checksums(const std::vector<at::Tensor>& tensors);

/// Whether all bits of two tensors of one shape and type are equal.
[[nodiscard]] bool areSameBits(const at::Tensor& one, const at::Tensor& other);

} // namespace kernelskill::engine::graph
