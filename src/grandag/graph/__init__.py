"""Directed and partially directed graphs as boolean matrices with names.

adjacency[i, j] is true if and only if i -> j; an undirected edge of a CPDAG is i -> j and j -> i. There is no graph
class: functions take the matrix and, where they need them, the names.

    algebra      acyclicity, orders, ancestors, parts of a graph
    equivalence  v-structures, Meek's rules, DAG to CPDAG and back, classes by interventions, all DAGs of a class
    boundary     anything that the library calls a graph -> matrix and names; networkx
    formats      text and files: DOT, dagitty, GML, GraphML, JSON, edge tables, adjacency tables
    conventions  what lingam, causal-learn, pgmpy and dowhy call a graph
"""

from grandag.graph.algebra import (
    ancestors,
    directed_part,
    edge_mark,
    is_acyclic,
    skeleton,
    topological_order,
    undirected_components,
    undirected_part,
)
from grandag.graph.boundary import GraphError, as_graph, from_networkx, to_networkx
from grandag.graph.conventions import (
    from_causal_learn,
    from_dowhy,
    from_lingam,
    from_pgmpy,
    to_causal_learn,
    to_dowhy,
    to_lingam,
    to_pgmpy,
)
from grandag.graph.equivalence import (
    interventional_essential_graph,
    is_cpdag,
    members,
    nearest_dag,
    orient,
    restricted_class,
    target_groups,
    to_cpdag,
    to_dag,
    v_structures,
)
from grandag.graph.formats import (
    check_ending,
    from_adjacency_table,
    from_dagitty,
    from_dot,
    from_edge_table,
    from_gml,
    from_graphml,
    from_json,
    no_formula,
    read_graph,
    to_adjacency_table,
    to_dagitty,
    to_dot,
    to_edge_table,
    to_gml,
    to_graphml,
    to_json,
    write_graph,
)

__all__ = [
    "GraphError",
    "ancestors",
    "as_graph",
    "check_ending",
    "directed_part",
    "edge_mark",
    "from_adjacency_table",
    "from_causal_learn",
    "from_dagitty",
    "from_dot",
    "from_dowhy",
    "from_edge_table",
    "from_gml",
    "from_graphml",
    "from_json",
    "from_lingam",
    "from_networkx",
    "from_pgmpy",
    "interventional_essential_graph",
    "is_acyclic",
    "is_cpdag",
    "members",
    "nearest_dag",
    "no_formula",
    "orient",
    "read_graph",
    "restricted_class",
    "skeleton",
    "target_groups",
    "to_adjacency_table",
    "to_causal_learn",
    "to_cpdag",
    "to_dag",
    "to_dagitty",
    "to_dot",
    "to_dowhy",
    "to_edge_table",
    "to_gml",
    "to_graphml",
    "to_json",
    "to_lingam",
    "to_networkx",
    "to_pgmpy",
    "topological_order",
    "undirected_components",
    "undirected_part",
    "v_structures",
    "write_graph",
]
