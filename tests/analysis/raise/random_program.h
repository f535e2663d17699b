/// Programs put together at random, and what their inputs hold.
#pragma once

#include "analysis/raise/builder.h"
#include "tests/analysis/raise/interpreter.h"

#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::analysis::raise {

class RandomProgram {
public:
    explicit RandomProgram(std::uint32_t seed) : random_(seed) {
        for (int i = 0; i < 2; ++i)
            tensors_.push_back(input({2, below(2) == 0 ? 4 : 6, 6}, Buffer::Role::Input));
        for (std::size_t step = 0; step < 14; ++step)
            if (Tensor next = made(any()); elementsIn(next) > 0 && elementsIn(next) <= 500)
                tensors_.push_back(below(3) == 0 ? builder_.kept(next, "kept") : next);
        for (std::size_t i = 0; i < 2; ++i)
            static_cast<void>(builder_.output(tensors_[tensors_.size() - 1 - below(3)], "out"));
        program = builder_.take();
        memory.resize(program.buffers.size());
        std::uniform_real_distribution<double> values(-1.5, 1.5);
        for (std::size_t i = 0; i < program.buffers.size(); ++i) {
            const Buffer& buffer = program.buffers[i];
            if (buffer.role != Buffer::Role::Input && buffer.role != Buffer::Role::Weight)
                continue;
            memory[i].resize(static_cast<std::size_t>(*elementsOf(buffer.shape).constant()));
            for (double& value : memory[i])
                value = rounded(values(random_), buffer.element);
        }
    }

    Program program;
    Memory memory; ///< Holds the inputs and weights.

private:
    static constexpr ScalarKind real = ScalarKind::Float;

    std::size_t below(std::size_t bound) { return random_() % bound; }
    const Tensor& any() { return tensors_[below(tensors_.size())]; }
    static std::int64_t elementsIn(const Tensor& tensor) {
        return *elementsOf(tensor.shape).constant();
    }
    Tensor input(const std::vector<Index>& shape, Buffer::Role role) {
        return builder_.input("given", real, shape, role, "given");
    }

    Tensor unary(const Tensor& tensor) {
        const std::size_t kind = below(4);
        return mapped(tensor, real, [kind](const Scalar& x) {
            switch (kind) {
            case 0:
                return call(real, Function::Maximum, {x, number(real, 0)});
            case 1:
                return call(real, Function::Multiply,
                            {x, call(real, Function::Tanh, {call(real, Function::Add, {x, x})})});
            case 2:
                return select(call(ScalarKind::Bool, Function::Less, {number(real, 0), x}), x,
                              call(real, Function::Multiply, {x, number(real, 0.25)}));
            default:
                return call(real, Function::Divide, {x, number(real, 3)});
            }
        });
    }

    Tensor made(const Tensor& tensor) {
        const std::size_t rank = tensor.rank();
        const std::size_t axis = rank == 0 ? 0 : below(rank);
        const auto extent = rank == 0 ? 1 : *tensor.shape[axis].constant();
        const std::string name = "t";
        switch (rank == 0 ? 0 : below(12)) {
        case 1: { // A bias.
            const Tensor bias = input({tensor.shape[axis]}, Buffer::Role::Weight);
            std::vector<Index> shape(rank, Index(1));
            shape[axis] = tensor.shape[axis];
            return zipped({tensor, reshaped(bias, shape)}, real, add);
        }
        case 2: { // Another tensor of that shape.
            for (const Tensor& other : tensors_)
                if (other.shape == tensor.shape && below(2) == 0)
                    return zipped({tensor, other}, real, add);
            return unary(tensor);
        }
        case 3: {
            std::vector<std::size_t> order(rank);
            for (std::size_t i = 0; i < rank; ++i)
                order[i] = (i + axis) % rank;
            return permuted(tensor, order);
        }
        case 4: { // Splits an axis, or joins two.
            std::vector<Index> shape = tensor.shape;
            if (extent % 2 == 0 && extent > 2) {
                shape[axis] = extent / 2;
                shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis + below(2)), 2);
            } else if (axis + 1 < rank) {
                shape[axis] = shape[axis] * shape[axis + 1];
                shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis + 1));
            }
            return reshaped(tensor, shape);
        }
        case 5:
        case 6: {
            const Reducer reducer = below(2) == 0 ? Reducer::Sum : Reducer::Maximum;
            const Tensor result = builder_.reduced(reducer, tensor, {axis}, below(2) == 0, name);
            if (below(2) == 0)
                return result;
            return builder_.reduced(
                {{Reducer::Sum, tensor, real}, {Reducer::FirstMaximum, tensor, ScalarKind::Int64}},
                {axis}, true, name)[0];
        }
        case 7: // A normalisation.
            return zipped({tensor, builder_.reduced(Reducer::Sum, tensor, {axis}, true, name)},
                          real, add);
        case 8:
            return below(2) == 0 ? padded(tensor, axis, 1, 0, 0.5)
                                 : sliced(tensor, axis, 0, extent / 2 + extent % 2);
        case 9: {
            const Tensor weight = input({5, tensor.shape[rank - 1]}, Buffer::Role::Weight);
            std::vector<Index> shape = tensor.shape;
            shape.back() = 5;
            return builder_.reducedBy(
                Reducer::Sum, real, shape, {{"k", tensor.shape.back()}},
                [&](std::vector<Index> position, const std::vector<Index>& reduced) {
                    const Scalar factor = weight.at({position.back(), reduced[0]});
                    position.back() = reduced[0];
                    return call(real, Function::Multiply, {tensor.at(position), factor});
                },
                name);
        }
        case 10:
            return below(2) == 0 ? builder_.scanned(Reducer::Sum, tensor, axis, name)
                                 : concatenated({tensor, tensor}, axis);
        case 11: // Windows that do not overlap, or do.
            return extent < 3 ? unary(tensor)
                              : builder_.reduced(Reducer::Maximum,
                                                 unfolded(tensor, axis, 2, below(2) == 0 ? 1 : 2),
                                                 {rank}, false, name);
        default:
            return unary(tensor);
        }
    }

    static Scalar add(const std::vector<Scalar>& values) {
        return call(real, Function::Add, values);
    }

    std::mt19937 random_;
    Builder builder_;
    std::vector<Tensor> tensors_;
};

} // namespace kernelskill::analysis::raise
