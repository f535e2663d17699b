#include "engine/graph/torch/tensors.h"

#include "engine/graph/reference/contiguous_tensor.h"
#include "engine/graph/tensor_extents.h"
#include "engine/graph/torch/torch_names.h"

#include <cstring>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {

Result<at::Tensor> tensorOf(const TensorData& data, const std::string& name) {
    const auto type = scalarType(data.type.element);
    if (!type)
        return std::unexpected(type.error());
    if (const auto problem = storageProblem(data.type, data.bytes.size()); !problem.empty())
        return std::unexpected(
            Error{ErrorKind::InvalidInput, "the tensor " + name + " " + problem, {}, {}});
    const auto elements = static_cast<std::int64_t>(data.bytes.size() / sizeOf(data.type.element));
    auto storage = at::empty({elements}, at::TensorOptions().dtype(*type));
    if (elements > 0)
        std::memcpy(storage.data_ptr(), data.bytes.data(),
                    static_cast<std::size_t>(elements) * sizeOf(data.type.element));
    return storage.as_strided(valuesOf(data.type.sizes), valuesOf(data.type.strides),
                              data.type.offset.value);
}

Result<TensorData> dataOf(const at::Tensor& tensor) {
    if (tensor.layout() != at::kStrided)
        return std::unexpected(
            Error{ErrorKind::Unsupported, "a sparse tensor is not read", {}, {}});
    const auto element = elementType(tensor.scalar_type());
    if (!element)
        return std::unexpected(element.error());
    // Conjugates and negatives may be only marked.
    const auto here = tensor.resolve_conj().resolve_neg().to(at::kCPU).contiguous();
    std::vector<std::byte> bytes(here.nbytes());
    if (!bytes.empty())
        std::memcpy(bytes.data(), here.data_ptr(), bytes.size());
    return owningTensor(contiguousType(*element, {here.sizes().data(), here.sizes().size()}),
                        std::move(bytes));
}

} // namespace kernelskill::engine::graph
