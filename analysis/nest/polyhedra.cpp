#include "analysis/nest/polyhedra.h"

#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/val.h>

namespace kernelskill::analysis {

namespace {

/// isl's own steps; some ten milliseconds.
constexpr unsigned long maxOperations = 20'000;

struct FreeIsl {
    void operator()(isl_ctx* context) const { isl_ctx_free(context); }
    void operator()(isl_set* set) const { isl_set_free(set); }
    void operator()(isl_val* value) const { isl_val_free(value); }
};
using IslSet = std::unique_ptr<isl_set, FreeIsl>;
using IslValue = std::unique_ptr<isl_val, FreeIsl>;

} // namespace

struct Polyhedra::Context {
    std::unique_ptr<isl_ctx, FreeIsl> isl;

    /// Null where the text is no set or reading it takes too long.
    [[nodiscard]] IslSet read(const std::string& text) const {
        isl_ctx_reset_error(isl.get());
        isl_ctx_reset_operations(isl.get());
        return IslSet(isl_set_read_from_str(isl.get(), text.c_str()));
    }
};

Polyhedra::Polyhedra() : context_(std::make_unique<Context>()) {
    context_->isl.reset(isl_ctx_alloc());
    if (context_->isl != nullptr) {
        isl_options_set_on_error(context_->isl.get(), ISL_ON_ERROR_CONTINUE);
        isl_ctx_set_max_operations(context_->isl.get(), maxOperations);
    }
}

Polyhedra::~Polyhedra() = default;

std::optional<bool> Polyhedra::isEmpty(const std::string& set) {
    const IslSet read = context_->isl != nullptr ? context_->read(set) : IslSet();
    const isl_bool empty = read != nullptr ? isl_set_is_empty(read.get()) : isl_bool_error;
    if (empty == isl_bool_error)
        return std::nullopt;
    return empty == isl_bool_true;
}

std::optional<std::int64_t> Polyhedra::count(const std::string& set) {
    const IslSet read = context_->isl != nullptr ? context_->read(set) : IslSet();
    if (read == nullptr || isl_set_is_bounded(read.get()) != isl_bool_true)
        return std::nullopt;
    const IslValue value(isl_set_count_val(read.get()));
    // A count that took too long is that of the points so far.
    if (value == nullptr || isl_ctx_last_error(context_->isl.get()) != isl_error_none ||
        isl_val_is_int(value.get()) != isl_bool_true ||
        isl_val_cmp_si(value.get(), INT64_MAX / 2) > 0)
        return std::nullopt;
    return isl_val_get_num_si(value.get());
}

} // namespace kernelskill::analysis
