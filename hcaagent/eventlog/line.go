package eventlog

// line is one line of a log, as encoding/json reads it where the scanner does not. A nil field is not in it.
type line struct {
	Seq   *int64  `json:"seq,omitempty"`
	T     *int64  `json:"t,omitempty"`
	After *uint64 `json:"after,omitempty"`
	Order *uint64 `json:"order,omitempty"`
	Ev    string  `json:"ev"`
	RC    *int    `json:"rc,omitempty"`
	GID   *string `json:"gid,omitempty"`
	Clock *string `json:"clock,omitempty"`
	QPN   *uint32 `json:"qpn,omitempty"`

	// Objects.
	CQ          *uint32 `json:"cq,omitempty"`
	SendCQ      *uint32 `json:"send_cq,omitempty"`
	RecvCQ      *uint32 `json:"recv_cq,omitempty"`
	SRQ         *uint32 `json:"srq,omitempty"`
	XRCD        *uint32 `json:"xrcd,omitempty"`
	PD          *uint32 `json:"pd,omitempty"`
	Depth       *int    `json:"depth,omitempty"`
	Limit       *int    `json:"limit,omitempty"`
	Type        any     `json:"type,omitempty"` // of a QP, a name; of a memory window, 1 or 2
	SigAll      *int    `json:"sq_sig_all,omitempty"`
	MaxSendWR   *int    `json:"max_send_wr,omitempty"`
	MaxRecvWR   *int    `json:"max_recv_wr,omitempty"`
	MaxSendSGE  *int    `json:"max_send_sge,omitempty"`
	MaxRecvSGE  *int    `json:"max_recv_sge,omitempty"`
	MaxInline   *int    `json:"max_inline,omitempty"`
	Addr        *uint64 `json:"addr,omitempty"`
	Length      *uint64 `json:"length,omitempty"`
	LKey        *uint32 `json:"lkey,omitempty"`
	RKey        *uint32 `json:"rkey,omitempty"`
	Access      *uint32 `json:"access,omitempty"`
	Solicited   *int    `json:"solicited_only,omitempty"`
	What        *string `json:"what,omitempty"`
	Wrote       *int    `json:"wrote,omitempty"`
	State       *uint8  `json:"state,omitempty"`
	To          *string `json:"to,omitempty"`
	CurState    *uint8  `json:"cur_qp_state,omitempty"`
	PKeyIndex   *uint16 `json:"pkey_index,omitempty"`
	PKey        *uint16 `json:"pkey,omitempty"`
	Port        *uint8  `json:"port_num,omitempty"`
	QPAccess    *uint32 `json:"qp_access_flags,omitempty"`
	QKey        *uint32 `json:"qkey,omitempty"`
	PathMTU     *uint32 `json:"path_mtu,omitempty"`
	DestQPN     *uint32 `json:"dest_qp_num,omitempty"`
	DGID        *string `json:"dgid,omitempty"`
	RQPSN       *uint32 `json:"rq_psn,omitempty"`
	SQPSN       *uint32 `json:"sq_psn,omitempty"`
	MaxDestRd   *uint8  `json:"max_dest_rd_atomic,omitempty"`
	MaxRd       *uint8  `json:"max_rd_atomic,omitempty"`
	MinRNRTimer *uint8  `json:"min_rnr_timer,omitempty"`
	Timeout     *uint8  `json:"timeout,omitempty"`
	RetryCnt    *uint8  `json:"retry_cnt,omitempty"`
	RNRRetry    *uint8  `json:"rnr_retry,omitempty"`
	HopLimit    *uint8  `json:"hop_limit,omitempty"`
	TClass      *uint8  `json:"traffic_class,omitempty"`
	SL          *uint8  `json:"sl,omitempty"`
	MigState    *uint8  `json:"path_mig_state,omitempty"`
	AltDGID     *string `json:"alt_dgid,omitempty"`
	RateLimit   *uint32 `json:"rate_limit,omitempty"`
	SQDNotify   *int    `json:"en_sqd_async_notify,omitempty"`

	// Work requests.
	WRID     *uint64   `json:"wr_id,omitempty"`
	Opcode   *string   `json:"opcode,omitempty"`
	LAddr    *uint64   `json:"laddr,omitempty"`
	SGE      []segment `json:"sge,omitempty"`
	RAddr    *uint64   `json:"raddr,omitempty"`
	Imm      *uint32   `json:"imm,omitempty"`
	InvKey   *uint32   `json:"inv_rkey,omitempty"`
	Flags    *uint32   `json:"flags,omitempty"`
	CRC      *uint32   `json:"crc32,omitempty"`
	Data     *string   `json:"data,omitempty"` // hexadecimal
	DQPN     *uint32   `json:"dest_qpn,omitempty"`
	CompAdd  *uint64   `json:"compare_add,omitempty"`
	Swap     *uint64   `json:"swap,omitempty"`
	AH       *uint32   `json:"ah,omitempty"`
	WindowOf *uint32   `json:"mw,omitempty"`
	RegionOf *uint32   `json:"mr,omitempty"`
	XRCSRQ   *uint32   `json:"remote_srqn,omitempty"`
	Place    *uint8    `json:"placement,omitempty"`
	Whole    *int      `json:"whole,omitempty"`

	// The device.
	DeviceRd     *uint8 `json:"max_qp_init_rd_atom,omitempty"`
	DeviceDestRd *uint8 `json:"max_qp_rd_atom,omitempty"`
	PKeys        *int   `json:"max_pkeys,omitempty"`
	Ports        *uint8 `json:"phys_port_cnt,omitempty"`

	// Completions.
	Status     *string `json:"status,omitempty"`
	StatusCode *uint8  `json:"status_code,omitempty"`
	Head       *string `json:"head,omitempty"` // hexadecimal
	ByteLen    *uint32 `json:"byte_len,omitempty"`
	GRH        *int    `json:"grh,omitempty"`
	SrcQP      *uint32 `json:"src_qp,omitempty"`
	SLID       *uint16 `json:"slid,omitempty"`
	Poll       *uint32 `json:"poll,omitempty"`
	Emptied    *int    `json:"emptied,omitempty"`
}

// segment is one element of a scatter or gather list.
type segment struct {
	Addr   uint64 `json:"addr"`
	Length uint32 `json:"length"`
	LKey   uint32 `json:"lkey"`
}
