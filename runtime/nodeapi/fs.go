package nodeapi

type disk struct{}
