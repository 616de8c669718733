#pragma once

#include <memory>

#include "encoder/internal/products.h"

namespace sibyl::encoder {

/// Products on simd::matrix_product_transposed, whose rows never depend on each other.
std::shared_ptr<const Products> open_own_products();

}  // namespace sibyl::encoder
