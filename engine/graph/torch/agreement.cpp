#include "engine/graph/torch/agreement.h"

#include "engine/graph/reference/judgement.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernelskill::engine::graph {
namespace {

/// Elements that are looked at together.
constexpr std::int64_t pieceElements = std::int64_t{1} << 23;

/// The tensor's elements in row-major order as one dimension; a copy if it has gaps.
at::Tensor flat(const at::Tensor& tensor) {
    return tensor.resolve_conj().resolve_neg().reshape({-1});
}

/// The tensor's bytes, without a copy.
at::Tensor bytesOf(const at::Tensor& tensor) {
    return flat(tensor.is_complex() ? at::view_as_real(tensor.resolve_conj()) : tensor)
        .view(at::kByte);
}

/// |found - expected| of each element.
at::Tensor differencesOf(const at::Tensor& found, const at::Tensor& expected) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (!found.is_floating_point() && !expected.is_floating_point())
        return found.ne(expected).to(at::kDouble).mul_(infinity).nan_to_num_(0, infinity);
    const auto left = found.to(at::kDouble);
    const auto right = expected.to(at::kDouble);
    auto differences = left.sub(right).abs_();
    differences.masked_fill_(differences.isnan(), infinity);
    differences.masked_fill_(left.eq(right).logical_or_(left.isnan().logical_and_(right.isnan())),
                             0);
    return differences;
}

/// The differences, each divided by scale + |expected|; infinite ones stay so.
at::Tensor errorsOf(const at::Tensor& differences, const at::Tensor& expected, double scale) {
    auto sizes = expected.to(at::kDouble).abs(); // A copy: to() need not make one.
    sizes.masked_fill_(sizes.isfinite().logical_not_(), 0);
    return differences.div(sizes.add_(scale));
}

/// Odd numbers without a pattern.
at::Tensor factors(std::int64_t count, c10::Device device) {
    auto numbers = at::arange(1, count + 1, at::TensorOptions().dtype(at::kLong).device(device));
    numbers.mul_(0x5851f42d4c957f2d);
    return numbers.bitwise_or_(1);
}

} // namespace

Agreement agreementOf(const at::Tensor& found, const at::Tensor& expected, double scale,
                      double share) {
    if (found.is_complex() || expected.is_complex())
        return agreementOf(at::view_as_real(found.resolve_conj()),
                           at::view_as_real(expected.resolve_conj()), scale, share);
    const auto left = flat(found);
    const auto right = flat(expected);
    Agreement agreement;
    for (std::int64_t begin = 0; begin < left.numel(); begin += pieceElements) {
        const std::int64_t end = std::min(begin + pieceElements, left.numel());
        const auto expectedPiece = right.slice(0, begin, end);
        const auto differences = differencesOf(left.slice(0, begin, end), expectedPiece);
        const auto errors = errorsOf(differences, expectedPiece, scale);
        const auto worst = errors.argmax().item<std::int64_t>();
        const auto error = errors[worst].item<double>();
        if (error > agreement.error || begin == 0) {
            agreement.error = error;
            agreement.worst = begin + worst;
        }
        agreement.difference = std::max(agreement.difference, differences.max().item<double>());
        const auto countBeyond = [&](double tolerance) {
            return errors.gt(tolerance).sum().item<std::int64_t>();
        };
        agreement.beyondLoose += countBeyond(looseTolerance);
        agreement.beyondTight += countBeyond(tightTolerance);
        if (share == 1)
            continue;
        agreement.nearLoose += countBeyond(looseTolerance * share);
        agreement.nearTight += countBeyond(tightTolerance * share);
    }
    if (share == 1) {
        agreement.nearLoose = agreement.beyondLoose;
        agreement.nearTight = agreement.beyondTight;
    }
    if (left.numel() > 0) {
        agreement.found = left[agreement.worst].to(at::kDouble).item<double>();
        agreement.expected = right[agreement.worst].to(at::kDouble).item<double>();
    }
    return agreement;
}

std::optional<double> magnitudeOf(const at::Tensor& tensor) {
    if (tensor.numel() == 0 || !(tensor.is_floating_point() || tensor.is_complex()))
        return std::nullopt;
    const auto numbers =
        flat(tensor.is_complex() ? at::view_as_real(tensor.resolve_conj()) : tensor);
    double squares = 0;
    for (std::int64_t begin = 0; begin < numbers.numel(); begin += pieceElements)
        squares += numbers.slice(0, begin, std::min(begin + pieceElements, numbers.numel()))
                       .to(at::kDouble)
                       .square()
                       .sum()
                       .item<double>();
    const double magnitude = std::sqrt(squares / static_cast<double>(numbers.numel()));
    return std::isfinite(magnitude) ? std::optional(magnitude) : std::nullopt;
}

std::string placeText(std::int64_t element, at::IntArrayRef sizes) {
    std::vector<std::int64_t> place(sizes.size());
    for (std::size_t i = sizes.size(); i-- > 0;) {
        place[i] = sizes[i] > 0 ? element % sizes[i] : 0;
        element /= std::max<std::int64_t>(sizes[i], 1);
    }
    std::string text = "[";
    for (const std::int64_t index : place)
        text += (text.size() > 1 ? ", " : "") + std::to_string(index);
    return text + "]";
}

std::int64_t checksum(const at::Tensor& tensor) {
    constexpr std::int64_t wordBytes = 8;
    const auto bytes = bytesOf(tensor);
    const std::int64_t whole = bytes.numel() / wordBytes;
    const auto words = bytes.slice(0, 0, whole * wordBytes).view(at::kLong);
    const auto factor =
        factors(std::max<std::int64_t>(std::min(whole, pieceElements), wordBytes), tensor.device());
    auto sum = at::zeros({}, factor.options());
    for (std::int64_t begin = 0; begin < whole; begin += pieceElements) {
        const std::int64_t end = std::min(begin + pieceElements, whole);
        constexpr std::int64_t step = 1'000'003;
        const auto piece = words.slice(0, begin, end);
        // Mixes the high bits of each word into its low ones first: products carry upwards only.
        const auto mixed = piece.bitwise_xor(piece.bitwise_right_shift(at::Scalar(32)));
        sum = sum.mul(step).add(mixed.mul_(factor.slice(0, 0, end - begin)).sum());
    }
    const auto rest = bytes.slice(0, whole * wordBytes).to(at::kLong);
    return sum.add(rest.mul(factor.slice(0, 0, rest.numel())).sum()).item<std::int64_t>();
}

std::vector<std::int64_t> checksums(const std::vector<at::Tensor>& tensors) {
    std::vector<std::int64_t> sums;
    sums.reserve(tensors.size());
    for (const at::Tensor& tensor : tensors)
        sums.push_back(checksum(tensor));
    return sums;
}

bool areSameBits(const at::Tensor& one, const at::Tensor& other) {
    return at::equal(bytesOf(one), bytesOf(other));
}

} // namespace kernelskill::engine::graph
